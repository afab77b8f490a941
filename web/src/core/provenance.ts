// SPDX-License-Identifier: Apache-2.0
// Where a number comes from: formula, inputs, dtype, backend and the error against f64, in one strip that
// follows the pointer or the cell cursor. A strip, not a tooltip: it covers nothing and works with touch.
import {
  html,
  nothing,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from 'lit';
import type { CellPlace } from './editor.js';
import { formatNumber, scientific } from './format.js';

export interface Provenance {
  /** MathML. */
  formula: TemplateResult;
  /** The formula with this cell's inputs in it. */
  inputs: string;
  /** The f32 value on screen; absent where the number was computed in f64 only. */
  fast?: number;
  exact: number;
}

interface Words {
  readonly t: (
    key: 'pointHint' | 'error' | 'exact',
    values?: Record<string, string | number>,
  ) => string;
  readonly locale: string;
  readonly engineName: string;
}

export class Pointer implements ReactiveController {
  place: CellPlace | undefined;

  constructor(
    private host: ReactiveControllerHost,
    start?: CellPlace,
  ) {
    this.place = start;
    host.addController(this);
  }
  hostConnected(): void {}

  /** For focusin and pointerover of whatever holds the tables. */
  at = (event: Event): void => {
    const cell = event
      .composedPath()
      .find(
        (node): node is HTMLElement =>
          node instanceof HTMLElement && node.dataset.grid !== undefined,
      );
    if (!cell) return;
    const { grid = '', row, column } = cell.dataset;
    const place = { grid, row: Number(row), column: Number(column) };
    const before = this.place;
    if (before?.grid === grid && before.row === place.row && before.column === place.column) return;
    this.place = place;
    this.host.requestUpdate();
  };

  is(grid: string, row: number, column: number): boolean {
    return this.place?.grid === grid && this.place.row === row && this.place.column === column;
  }

  render(from: Provenance | undefined, words: Words): TemplateResult {
    if (!from)
      return html`<div class="why" part="provenance" id="why">
        <span class="note">${words.t('pointHint')}</span>
      </div>`;
    const { fast, exact } = from;
    return html`<div class="why" part="provenance" id="why">
      <span class="formula">${from.formula}</span>
      <span class="inputs">${from.inputs}</span>
      <dl>
        ${
          fast === undefined
            ? nothing
            : html`<div>
                <dt>f32 <small>${words.engineName}</small></dt>
                <dd>${precise(fast, words.locale)}</dd>
              </div>`
        }
        <div>
          <dt>f64 <small>reference</small></dt>
          <dd>${precise(exact, words.locale)}</dd>
        </div>
        ${
          fast === undefined
            ? nothing
            : html`<div>
                <dt>${words.t('error')}</dt>
                <dd>${errorOf(fast, exact, words)}</dd>
              </div>`
        }
      </dl>
    </div>`;
  }
}

/** The one subtraction outside the module: of two numbers that both came from it. */
function errorOf(fast: number, exact: number, words: Words): string {
  return Object.is(fast, exact)
    ? words.t('exact')
    : scientific(Math.abs(fast - exact), words.locale);
}

const precise = (value: number, locale: string): string => formatNumber(value, locale, 9);
