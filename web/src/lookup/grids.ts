// SPDX-License-Identifier: Apache-2.0
// The matrix form: Q K^T, P and P V for all queries at once.
import { html, nothing, type TemplateResult } from 'lit';
import { number } from '../core/format.js';
import { vars } from '../core/vars.js';
import { entryHeaders, readKeys, valueCell } from './cells.js';
import type { AttnLookup } from './element.js';

interface Grid {
  grid: 'dots' | 'p' | 'o';
  title: string;
  columns: number;
  values: ArrayLike<number>;
  colour: string;
  figure: string | undefined;
}

export function renderGrids(host: AttnLookup): TemplateResult {
  const { q, k, v, causal } = host.shown;
  const { dots, weights, output } = host.answer.fast;
  const article = host.showsArticle;
  const grids: Grid[] = [
    {
      grid: 'dots',
      title: host.t('grid'),
      columns: k.length,
      values: dots,
      colour: '',
      figure: article ? 's1.qkT' : undefined,
    },
    {
      grid: 'p',
      title: host.t('weightGrid'),
      columns: k.length,
      values: weights,
      colour: 'w',
      figure: article && causal ? 's1.P_causal' : undefined,
    },
    {
      grid: 'o',
      title: host.t('outputGrid'),
      columns: v[0]?.length ?? 0,
      values: output,
      colour: 'v',
      figure: article && causal ? 's1.PV_causal' : undefined,
    },
  ];
  return html`<section
    class="block"
    @focusin=${(event: Event) => {
      host.cursor.focused(event);
      host.pointer.at(event);
    }}
    @pointerover=${host.pointer.at}
  >
    ${host.heading(host.t('matrixTitle'))}
    <p class="note">${host.t('matrixNote')}</p>
    <div class="grids">${grids.map((grid) => renderGrid(host, grid, q.length))}</div>
  </section>`;
}

function renderGrid(host: AttnLookup, grid: Grid, rows: number): TemplateResult {
  const { columns, values, colour } = grid;
  const digits = Array.from(values).every(Number.isInteger) ? 0 : columns > 4 ? 2 : 3;
  return html`<table
    role="grid"
    class="heat ${grid.grid}"
    aria-label=${grid.title}
    @keydown=${readKeys(host)}
  >
    <caption class=${colour || nothing}>
      ${grid.title}
    </caption>
    <thead>
      <tr>
        <td class="corner"></td>
        ${entryHeaders(host, columns)}
      </tr>
    </thead>
    <tbody>
      ${Array.from(
        { length: rows },
        (_, row) =>
          html`<tr class=${row === host.shown.query ? 'chosen' : nothing}>
            <th scope="row">${row + 1}</th>
            ${Array.from({ length: columns }, (_, column) => {
              const value = values[row * columns + column] ?? 0;
              return valueCell(host, grid.grid, row, column, value, {
                className: colour,
                figure: grid.figure ? { id: grid.figure, index: `${row},${column}` } : undefined,
                content: html`<span
                    class="heat-fill"
                    ${vars({ '--share': grid.grid === 'p' && value > 0 ? value : 0 })}
                  ></span
                  >${number(value, host.locale, digits)}`,
              });
            })}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
