// SPDX-License-Identifier: Apache-2.0
// Cells that the lookup's tables share.
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { number, plainNumber } from '../core/format.js';
import type { AttnLookup } from './element.js';
import type { MatrixName } from './state.js';

/** Id of a figure of the article and the place in it, for cells that show it. */
export interface Figure {
  id: string;
  index?: string;
}

/** Attributes of a computed cell: place for the cursor, value and figure for whoever compares. */
export function valueCell(
  host: AttnLookup,
  grid: string,
  row: number,
  column: number,
  value: number,
  options: {
    figure?: Figure | undefined;
    className?: string;
    content?: unknown;
    digits?: number;
  } = {},
): TemplateResult {
  const { figure, className = '', content, digits = 3 } = options;
  return html`<td
    role="gridcell"
    class="${className} ${host.pointer.is(grid, row, column) ? 'pointed' : ''}"
    data-grid=${grid}
    data-row=${row}
    data-column=${column}
    data-value=${value}
    data-figure=${figure?.id ?? nothing}
    data-index=${figure?.index ?? nothing}
    tabindex=${host.cursor.tabIndex(grid, row, column)}
    aria-describedby=${host.pointer.is(grid, row, column) ? 'why' : nothing}
  >
    ${content ?? number(value, host.locale, digits)}
  </td>`;
}

/** A row of editable cells. */
export function editableCells(host: AttnLookup, grid: MatrixName, row: number): TemplateResult[] {
  return (host.shown[grid][row] ?? []).map((value, column) => {
    const place = { grid, row, column };
    const matrix = host.t(grid === 'q' ? 'queries' : grid === 'k' ? 'keys' : 'values');
    return html`<td role="gridcell" class="edit">
      <input
        class=${grid}
        data-grid=${grid}
        data-row=${row}
        data-column=${column}
        data-value=${value}
        inputmode="decimal"
        autocomplete="off"
        spellcheck="false"
        maxlength="12"
        tabindex=${host.cursor.tabIndex(grid, row, column)}
        aria-label=${host.t('cellLabel', { matrix, row: row + 1, column: column + 1 })}
        aria-invalid=${host.editor.isInvalid(place) ? 'true' : 'false'}
        .value=${live(host.editor.text(place, plainNumber(value, host.locale)))}
        @input=${host.editor.input}
        @keydown=${host.editor.key}
        @focus=${host.editor.focus}
        @blur=${host.editor.blur}
        @pointerdown=${host.editor.pointerDown}
      />
    </td>`;
  });
}

export function entryHeaders(host: AttnLookup, width: number): TemplateResult[] {
  return Array.from(
    { length: width },
    (_, column) =>
      html`<th scope="col">
        <span class="sr">${host.t('entry', { n: column + 1 })}</span
        ><span aria-hidden="true">${column + 1}</span>
      </th>`,
  );
}

/** Arrow keys of a table whose cells are only read. */
export const readKeys =
  (host: AttnLookup) =>
  (event: KeyboardEvent): void => {
    host.cursor.key(event);
  };
