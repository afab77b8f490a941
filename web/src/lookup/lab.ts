// SPDX-License-Identifier: Apache-2.0
// Mask lab: the same row under four ideas of what a hidden score is, with the future hidden and with everything
// hidden. Each cell is a small bar chart, so that a leak is seen before it is read.
import { html, nothing, type TemplateResult } from 'lit';
import type { HiddenScore } from '../core/engine.js';
import { formatNumber, formatPercent, number } from '../core/format.js';
import { vars } from '../core/vars.js';
import type { AttnLookup, LabRow, Pair } from './element.js';

export const kHiddenScores: readonly HiddenScore[] = [
  'minus_infinity',
  'zero',
  'lowest_finite',
  'minus_billion',
];

const kNames = {
  minus_infinity: ['kindInfinity', 'kindInfinityNote'],
  zero: ['kindZero', 'kindZeroNote'],
  lowest_finite: ['kindLowest', 'kindLowestNote'],
  minus_billion: ['kindBillion', 'kindBillionNote'],
} as const;

/** Columns of the cursor: the key, the leak, then the key when all is hidden. */
export const labColumn = (tokens: number) => ({ future: 0, leak: tokens, all: tokens + 1 });

export function renderLab(host: AttnLookup): TemplateResult {
  const { lab, q } = host.shown;
  return html`<section
    class="block lab"
    part="lab"
    @focusin=${(event: Event) => {
      host.cursor.focused(event);
      host.pointer.at(event);
    }}
    @pointerover=${host.pointer.at}
  >
    ${host.heading(host.t('labTitle'))}
    <p class="note">${host.t('labNote')}</p>
    <fieldset>
      <legend>${host.t('labToken')}</legend>
      <span class="segments">
        ${q.map((_, row) => html`<label><input type="radio" name="lab" .checked=${row === lab} @change=${() => host.change({ lab: row })} />${row + 1}</label>`)}
      </span>
    </fieldset>
    <table
      role="grid"
      aria-label=${host.t('labTitle')}
      @keydown=${(event: KeyboardEvent) => host.cursor.key(event)}
    >
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">${host.t('labMask')}</th>
          <th scope="col" role="columnheader">${host.t('labFuture')}</th>
          <th scope="col" role="columnheader">${host.t('labAll')}</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${host.lab.map((row, index) => renderRow(host, row, index))}
      </tbody>
    </table>
  </section>`;
}

function renderRow(host: AttnLookup, row: LabRow, index: number): TemplateResult {
  const { lab, k } = host.shown;
  const n = k.length;
  const [name, note] = kNames[row.kind];
  const columns = labColumn(n);
  const leak = row.future.fast.leak[lab] ?? 0;
  const isFigure = host.showsArticle && lab === 0 && row.kind === 'zero';
  const { naive, lse } = row.all.fast;
  const blind = lse[lab] === -Infinity; // every score is -inf: 0/0 on paper, a defined answer here
  return html`<tr role="row" data-kind=${row.kind}>
    <th scope="row" role="rowheader">
      <b>${host.t(name)}</b><span class="sub">${host.t(note)}</span>
    </th>
    <td class="chart" role="gridcell">
      ${bars(host, row.future, index, columns.future, (j) => j > lab, isFigure ? 's1.zero_mask_row1' : undefined)}
      ${
        lab === n - 1
          ? html`<p class="verdict">${host.t('nothingHidden')}</p>`
          : html`<p
              class="verdict ${leak > 0 ? 'bad' : ''}"
              data-grid="lab"
              data-row=${index}
              data-column=${columns.leak}
              data-value=${leak}
              data-figure=${isFigure ? 's1.zero_mask_leak' : nothing}
              tabindex=${host.cursor.tabIndex('lab', index, columns.leak)}
            >
              ${host.t('leak', { share: formatPercent(leak, host.locale) })}
            </p>`
      }
    </td>
    <td class="chart" role="gridcell">
      ${bars(host, row.all, index, columns.all, () => true, undefined)}
      ${
        blind
          ? html`<p class="verdict">
              <span class="bad"
                >${host.t('naive')}&nbsp;=&nbsp;<b
                  data-figure=${host.showsArticle ? 's1.all_masked' : nothing}
                  data-value=${naive[lab * n] ?? 0}
                  >${formatNumber(naive[lab * n] ?? 0, host.locale)}</b
                ></span
              ><br />${host.t('defined', { lse: formatNumber(lse[lab] ?? 0, host.locale) })}
            </p>`
          : html`<p class="verdict bad">${host.t('everyone')}</p>`
      }
    </td>
  </tr>`;
}

function bars(
  host: AttnLookup,
  pair: Pair,
  row: number,
  column: number,
  hidden: (j: number) => boolean,
  figure: string | undefined,
): TemplateResult {
  const { lab, k } = host.shown;
  const n = k.length;
  return html`<ul>
    ${k.map((_, j) => {
      const weight = pair.fast.weights[lab * n + j] ?? 0;
      const leaks = hidden(j) && weight > 0;
      return html`<li
        class="${leaks ? 'leaks' : ''} ${host.pointer.is('lab', row, column + j) ? 'pointed' : ''}"
        data-grid="lab"
        data-row=${row}
        data-column=${column + j}
        data-value=${weight}
        tabindex=${host.cursor.tabIndex('lab', row, column + j)}
      >
        <span class="key">${j + 1}</span
        ><span class="track"
          ><span class="bar" ${vars({ '--share': weight > 0 ? weight : 0 })}></span></span
        ><span
          data-figure=${figure ?? nothing}
          data-index=${figure ? String(j) : nothing}
          data-value=${weight}
          >${number(weight, host.locale)}</span
        >
      </li>`;
    })}
  </ul>`;
}
