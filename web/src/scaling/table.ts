// SPDX-License-Identifier: Apache-2.0
// The article's table, row by row as the experiment fills it.
import { html, nothing, type TemplateResult } from 'lit';
import { formatPercent } from '../core/format.js';
import { type AttnScaling, kRaw, kSqrt } from './element.js';
import { type Measure, renderCell } from './pair.js';
import { kArticleDs } from './state.js';

export const kColumns: readonly Measure[] = ['spread', 'top', 'entropy', 'saturated', 'effective'];
/** Names of the fields in the figure s2.table. */
const kFields: Partial<Record<Measure, string>> = {
  spread: 'spread',
  top: 'top',
  entropy: 'entropy',
  saturated: 'saturated_percent',
};

export function renderTable(host: AttnScaling): TemplateResult {
  return html`<section class="block">
    <div class="row">${host.heading(host.t('tableTitle'))} ${renderProgress(host)}</div>
    <table
      role="grid"
      class="article"
      aria-label=${host.t('tableTitle')}
      @keydown=${(event: KeyboardEvent) => host.cursor.key(event)}
    >
      <thead>
        <tr>
          <th scope="col">d</th>
          <th scope="col">${host.t('scores')}</th>
          ${kColumns.map((measure) => html`<th scope="col" class=${measure}>${host.t(measure)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${kArticleDs.map((d, i) => [renderRow(host, d, 2 * i, false), renderRow(host, d, 2 * i + 1, true)])}
      </tbody>
    </table>
    <p class="note">${host.t('tableNote')}</p>
  </section>`;
}

function renderRow(host: AttnScaling, d: number, index: number, scaled: boolean): TemplateResult {
  const row = host.row(d, scaled ? kSqrt : kRaw);
  return html`<tr class="${scaled ? 'scaled' : 'raw'} ${d === host.shown.d ? 'chosen' : ''}">
    ${scaled ? html`<th scope="row" class="again"><span class="sr">${d}</span></th>` : html`<th scope="row">${d}</th>`}
    <th scope="row" class="kind">${host.t(scaled ? 'sqrt' : 'raw')}</th>
    ${kColumns.map((measure, column) => {
      const field = kFields[measure];
      return renderCell(
        host,
        'table',
        index,
        column,
        measure,
        row,
        row && field ? 's2.table' : undefined,
        `${d},${scaled ? 'scaled' : 'raw'},${field}`,
      );
    })}
  </tr>`;
}

function renderProgress(host: AttnScaling): TemplateResult {
  const { progress } = host;
  const isRunning = progress !== undefined;
  // One button, so that the focus stays on it when a run ends.
  const percent = formatPercent(progress ?? 1, host.locale);
  return html`<span class="row run">
    ${isRunning ? html`<progress max="1" .value=${progress} aria-label=${host.t('progress', { percent })}></progress>` : nothing}
    ${host.stopped ? html`<span class="note">${host.t('stopped')}</span>` : nothing}
    <button
      name=${isRunning ? 'stop' : 'run'}
      @click=${() => (isRunning ? host.stop() : host.runAgain())}
    >
      ${host.t(isRunning ? 'stop' : 'run')}
    </button>
  </span>`;
}
