// SPDX-License-Identifier: Apache-2.0
import { html, type TemplateResult } from 'lit';
import { GridCursor } from '../core/cursor.js';
import { type CellPlace, CellEditor } from '../core/editor.js';
import { AttnElement } from '../core/element.js';
import type { Engine, HiddenScore, LookupAnswer, LookupRequest } from '../core/engine.js';
import { formatNumber, formatPercent, plainNumber } from '../core/format.js';
import type { Fields } from '../core/fragment.js';
import { Pointer } from '../core/provenance.js';
import { base } from '../core/base-styles.js';
import { controls } from '../core/control-styles.js';
import { shared } from '../core/panel-styles.js';
import { tables } from '../core/table-styles.js';
import { tokens } from '../core/tokens.js';
import { copies } from './code.js';
import { renderGrids } from './grids.js';
import { kHiddenScores, renderLab } from './lab.js';
import { renderLedger } from './ledger.js';
import { explain } from './explain.js';
import {
  article,
  fromFields,
  isArticle,
  kMaxTokens,
  type LookupState,
  type MatrixName,
  toFields,
  withCell,
  withTokens,
} from './state.js';
import { type LookupStrings, lookupStrings } from './strings.js';
import { moreStyles } from './more-styles.js';
import { styles } from './styles.js';

/** One answer in the page's precision and the reference's in f64. */
export interface Pair {
  readonly fast: LookupAnswer;
  readonly exact: LookupAnswer;
}

/** The reference is asked when somebody points at a number, not for the other hundred. */
function pair(engine: Engine, request: LookupRequest): Pair {
  let exact: LookupAnswer | undefined;
  return {
    fast: engine.lookup(request, 'f32'),
    get exact() {
      return (exact ??= engine.lookup(request, 'f64'));
    },
  };
}
export interface LabRow {
  kind: HiddenScore;
  future: Pair;
  all: Pair;
}

/**
 * Step 1: a soft lookup with the reader's own numbers.
 * @csspart lab - the mask lab
 */
export class AttnLookup extends AttnElement<LookupState, LookupStrings> {
  static override styles = [tokens, base, controls, tables, shared, styles, moreStyles];

  readonly cursor = new GridCursor(this);
  readonly editor = new CellEditor(this, this.cursor);
  // It begins at the largest weight of the article, to show what pointing at a number does.
  readonly pointer = new Pointer(this, { grid: 'scores', row: 0, column: 3 });
  answer!: Pair;
  lab: LabRow[] = [];
  private preview: LookupState | undefined;
  private computedFor: LookupState | undefined;

  protected articleState(): LookupState {
    return article;
  }
  protected toFields(state: LookupState): Fields {
    return toFields(state);
  }
  protected fromFields(fields: Fields): LookupState {
    return fromFields(fields);
  }
  protected translations(): Record<'en' | 'de', LookupStrings> {
    return lookupStrings;
  }

  /** What is on screen: the committed state, or what is being typed. */
  get shown(): LookupState {
    return this.preview ?? this.state;
  }
  get engineName(): string {
    return this.engine?.backend ?? '';
  }
  get showsArticle(): boolean {
    return isArticle(this.shown);
  }

  protected compute(engine: Engine): void {
    const { shown } = this;
    if (this.computedFor === shown) return;
    const ask = (request: Partial<LookupRequest>): Pair => {
      const whole: LookupRequest = {
        q: shown.q,
        k: shown.k,
        v: shown.v,
        causal: shown.causal,
        hiddenScore: 'minus_infinity',
        ...(shown.scaled ? {} : { scale: 1 }),
        ...request,
      };
      return pair(engine, whole);
    };
    this.answer = ask({});
    this.lab = kHiddenScores.map((kind) => ({
      kind,
      future: ask({ causal: true, hiddenScore: kind }),
      all: ask({ causal: false, hideAll: true, hiddenScore: kind }),
    }));
    this.computedFor = shown;
  }

  cellValue({ grid, row, column }: CellPlace): number {
    return this.state[grid as MatrixName][row]?.[column] ?? 0;
  }
  previewCell({ grid, row, column }: CellPlace, value: number): void {
    this.preview = withCell(this.state, grid as MatrixName, row, column, value);
    this.requestUpdate();
  }
  commitCell({ grid, row, column }: CellPlace, value: number): void {
    this.preview = undefined;
    this.commit(withCell(this.state, grid as MatrixName, row, column, value));
  }
  dropCell(place: CellPlace, text?: string): void {
    this.preview = undefined;
    if (text !== undefined) {
      const kept = plainNumber(this.cellValue(place), this.locale);
      this.announce(this.t('notANumber', { text: text.slice(0, 20), kept }));
    }
    this.requestUpdate();
  }

  /** One undoable change of some fields. */
  change(fields: Partial<LookupState>): void {
    this.preview = undefined;
    this.commit({ ...this.state, ...fields });
  }
  setTokens(tokens: number): void {
    this.preview = undefined;
    const next = withTokens(this.state, tokens);
    for (const name of ['q', 'k', 'v', 'scores', 'dots', 'p', 'o', 'lab'])
      this.cursor.clamp(name, next.q.length, 99);
    this.commit(next);
  }

  /** The figure in one sentence: share and key of the best match. */
  lead(): {
    key: 'leadSoft' | 'leadTie' | 'leadHard' | 'leadNone';
    i: number;
    j: number;
    share: string;
  } {
    const { query, hard } = this.shown;
    const { weights, hardKey } = this.answer.fast;
    const n = this.shown.k.length;
    const j = Number(hardKey[query]);
    const row = [...weights.slice(query * n, (query + 1) * n)];
    const share = formatPercent(row[j] ?? 0, this.locale, 1);
    const ties = row.filter((weight) => weight === row[j]).length;
    const key = j < 0 ? 'leadNone' : hard ? 'leadHard' : ties > 1 ? 'leadTie' : 'leadSoft';
    return { key, i: query + 1, j: j + 1, share };
  }

  protected summary(): string {
    const { key, ...values } = this.lead();
    const { query, hard, v, k } = this.shown;
    const width = v[0]?.length ?? 0;
    const { weights, output, hardOutput } = this.answer.fast;
    const list = (of: ArrayLike<number>, at: number, size: number): string =>
      Array.from(of)
        .slice(at * size, (at + 1) * size)
        .map((value) => formatNumber(value, this.locale))
        .join(', ');
    return this.t('summary', {
      lead: this.t(key, values),
      weights: list(weights, query, k.length),
      output: list(hard ? hardOutput : output, query, width),
    });
  }

  protected renderStatic(): TemplateResult {
    return html`<p>${this.t('static')}</p>`;
  }

  protected renderFigure(): TemplateResult {
    return html`${renderLedger(this)}
    ${this.pointer.render(explain(this, this.pointer.place), this)} ${this.renderControls()}
    ${renderGrids(this)} ${renderLab(this)}
    ${this.renderActions(copies(this.state, this.localName, this.t('embedCode')))}`;
  }

  private renderControls(): TemplateResult {
    const { hard, causal, scaled, q } = this.shown;
    const n = q.length;
    return html`<div class="row wide" part="controls">
      <fieldset>
        <legend>${this.t('mode')}</legend>
        <span class="segments">
          ${[false, true].map(
            (value) =>
              html`<label>
                <input
                  type="radio"
                  name="hard"
                  .checked=${hard === value}
                  @change=${() => this.change({ hard: value })}
                />
                ${this.t(value ? 'hard' : 'soft')}</label
              >`,
          )}
        </span>
      </fieldset>
      <label class="switch">
        <input
          type="checkbox"
          name="causal"
          .checked=${causal}
          @change=${(event: Event) => this.change({ causal: (event.target as HTMLInputElement).checked })}
        />
        ${this.t('causal')}</label
      >
      <label class="switch">
        <input
          type="checkbox"
          name="scaled"
          .checked=${scaled}
          @change=${(event: Event) => this.change({ scaled: (event.target as HTMLInputElement).checked })}
        />
        ${this.t('scale')}</label
      >
      <span class="row" role="group" aria-label=${this.t('tokens')}>
        <span class="label">${this.t('tokens')}</span>
        <button
          class="square"
          name="remove"
          aria-label=${this.t('removeToken')}
          ?disabled=${n <= 1}
          @click=${() => this.setTokens(n - 1)}
        >
          −
        </button>
        <b>${n}</b>
        <button
          class="square"
          name="add"
          aria-label=${this.t('addToken')}
          ?disabled=${n >= kMaxTokens}
          @click=${() => this.setTokens(n + 1)}
        >
          +
        </button>
      </span>
    </div>`;
  }
}
