// SPDX-License-Identifier: Apache-2.0
// Raw scores and the chosen rule side by side: of 1,024 keys, how many does a query still choose between?
import type { ScalingRow } from 'attn';
import { html, nothing, type TemplateResult } from 'lit';
import { formatPercent, number } from '../core/format.js';
import { type AttnScaling, kRaw } from './element.js';
import { scoreRule } from './state.js';

const kSide = 32; // 32 x 32 = 1,024 keys

export function renderPair(host: AttnScaling): TemplateResult {
  const { d, rule } = host.shown;
  const raw = host.row(d, kRaw);
  const row = host.row(d, scoreRule(host.shown));
  const both = rule !== 'raw';
  return html`<div
    class="pair"
    part="figure"
    ?data-single=${!both}
    aria-busy=${host.isPending ? 'true' : 'false'}
  >
    ${renderDots(host, raw, 'raw', host.t('raw'))}
    ${both ? renderDots(host, row, 'rule', host.ruleText()) : nothing}
    ${renderNumbers(host, both ? [raw, row] : [raw])}
  </div>`;
}

function renderDots(
  host: AttnScaling,
  row: ScalingRow | undefined,
  name: string,
  title: string,
): TemplateResult {
  const lit = row?.effective ?? 0;
  return html`<figure class="dots ${name}">
    <figcaption><span class="label">${title}</span></figcaption>
    <svg
      viewBox="0 0 ${kSide} ${kSide}"
      role="img"
      aria-label="${title}: ${row ? host.choices(row) : '…'} ${host.t('ofKeys')}"
    >
      <path class="off" d=${cells(lit, kSide * kSide)} />
      <path class="on" d=${cells(0, lit)} />
    </svg>
    <p class="count"><b>${row ? host.choices(row) : '…'}</b> ${host.t('ofKeys')}</p>
  </figure>`;
}

/** Squares from..to in reading order; a part of a key is a part of a square. */
function cells(from: number, to: number): string {
  let path = '';
  for (let i = Math.floor(from); i < to; ++i) {
    const start = Math.max(from - i, 0);
    const width = Math.min(to - i, 1) - start;
    path += `M${(i % kSide) + 0.1 + 0.8 * start} ${Math.floor(i / kSide) + 0.1}h${0.8 * width}v.8h${-0.8 * width}z`;
  }
  return path;
}

export type Measure = 'effective' | 'top' | 'entropy' | 'saturated' | 'spread';
export const kMeasures: readonly Measure[] = ['effective', 'top', 'entropy', 'saturated', 'spread'];

function renderNumbers(host: AttnScaling, columns: (ScalingRow | undefined)[]): TemplateResult {
  const isFigure = host.shown.d === 128 && host.shown.rule === 'sqrt';
  const figureOf = (measure: Measure, column: number): string | undefined =>
    isFigure && measure === 'effective'
      ? column === 0
        ? 's2.effective_raw_128'
        : 's2.effective_scaled'
      : undefined;
  return html`<table
    role="grid"
    class="numbers"
    aria-label=${host.t('title')}
    @keydown=${(event: KeyboardEvent) => host.cursor.key(event)}
  >
    <thead>
      <tr>
        <td class="corner"></td>
        <th scope="col">${host.t('raw')}</th>
        ${columns.length > 1 ? html`<th scope="col">${host.ruleText()}</th>` : nothing}
      </tr>
    </thead>
    <tbody>
      ${kMeasures.map(
        (measure, r) =>
          html`<tr>
            <th scope="row">${host.t(measure)}</th>
            ${columns.map((at, column) => renderCell(host, 'pair', r, column, measure, at, figureOf(measure, column)))}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

export function renderCell(
  host: AttnScaling,
  grid: string,
  row: number,
  column: number,
  measure: Measure,
  from: ScalingRow | undefined,
  figure?: string,
  index?: string,
): TemplateResult {
  return html`<td
    role="gridcell"
    class="${measure === 'top' ? 'w' : ''} ${host.pointer.is(grid, row, column) ? 'pointed' : ''}"
    data-grid=${grid}
    data-row=${row}
    data-column=${column}
    data-measure=${measure}
    data-value=${from?.[measure] ?? nothing}
    data-figure=${figure ?? nothing}
    data-index=${index ?? nothing}
    tabindex=${host.cursor.tabIndex(grid, row, column)}
    aria-describedby=${host.pointer.is(grid, row, column) ? 'why' : nothing}
  >
    ${from ? show(host, measure, from) : '…'}
  </td>`;
}

function show(host: AttnScaling, measure: Measure, row: ScalingRow): unknown {
  switch (measure) {
    case 'effective':
      return host.choices(row);
    case 'saturated':
      return formatPercent(row.saturated, host.locale);
    case 'top':
      return number(row.top, host.locale, 3);
    default:
      return number(row[measure], host.locale, 2);
  }
}
