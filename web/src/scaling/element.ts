// SPDX-License-Identifier: Apache-2.0
import type { ScalingRow, ScoreRule } from 'attn';
import { html, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { GridCursor } from '../core/cursor.js';
import { AttnElement } from '../core/element.js';
import type { Engine } from '../core/engine.js';
import { formatNumber, formatPercent } from '../core/format.js';
import type { Fields } from '../core/fragment.js';
import { Pointer } from '../core/provenance.js';
import { base } from '../core/base-styles.js';
import { controls } from '../core/control-styles.js';
import { shared } from '../core/panel-styles.js';
import { tables } from '../core/table-styles.js';
import { tokens } from '../core/tokens.js';
import { copies } from './code.js';
import { renderControls } from './controls.js';
import { explain } from './explain.js';
import { Stopped } from './experimenter.js';
import { renderHistogram } from './histogram.js';
import { renderPair } from './pair.js';
import { Runner } from './runner.js';
import {
  article,
  fromFields,
  kArticleDs,
  kKeys,
  kSeed,
  kTrials,
  ruleId,
  type ScalingState,
  scoreRule,
  toFields,
} from './state.js';
import { type ScalingStrings, scalingStrings } from './strings.js';
import { styles } from './styles.js';
import { renderTable } from './table.js';

export const kRaw: ScoreRule = { divisor: 'one' };
export const kSqrt: ScoreRule = { divisor: 'sqrt_d' };

/**
 * What was measured on this page: the draws are the same for everybody, so a second element shows them at once.
 * A row takes 1 kB.
 */
const measured = new Map<string, ScalingRow>();
const kMeasuredLimit = 512;

/** What is above the button that starts and stops. */
const kHeld = ['.lead', '.pair', '.histogram', '.why'];

/**
 * Step 2: why scores are divided by sqrt(d). The experiment runs in a worker while the element is near the
 * screen, first for what is shown, then for the article's table.
 */
export class AttnScaling extends AttnElement<ScalingState, ScalingStrings> {
  static override properties: PropertyDeclarations = {
    progress: { state: true },
    stopped: { state: true },
  };
  static override styles = [tokens, base, controls, tables, shared, styles];

  /** Share of the running job, or undefined when nothing runs. */
  declare progress: number | undefined;
  declare stopped: boolean;
  readonly cursor = new GridCursor(this);
  readonly pointer = new Pointer(this, { grid: 'pair', row: 0, column: 1 });
  private preview: ScalingState | undefined;
  private runner: Runner | undefined;
  private rows = new Map<string, ScalingRow>();
  private running: { d: number; rules: string } | undefined;
  private onScreen = false;
  private speakWhenDone = false;
  private isFresh = false;
  private readonly heights = new Map<string, number>();
  private firstRows: (() => void) | undefined;

  constructor() {
    super();
    this.progress = undefined;
    this.stopped = false;
  }

  protected articleState(): ScalingState {
    return article;
  }
  protected toFields(state: ScalingState): Fields {
    return toFields(state);
  }
  protected fromFields(fields: Fields): ScalingState {
    return fromFields(fields);
  }
  protected translations(): Record<'en' | 'de', ScalingStrings> {
    return scalingStrings;
  }

  get shown(): ScalingState {
    return this.preview ?? this.state;
  }
  get engineName(): string {
    return 'reference';
  }

  row(d: number, rule: ScoreRule): ScalingRow | undefined {
    return this.rows.get(`${d}/${ruleId(rule)}`);
  }

  protected compute(_engine: Engine): void {
    this.schedule();
  }
  protected override firstNumbers(): Promise<void> {
    return new Promise((resolve) => {
      this.firstRows = resolve;
      this.schedule();
    });
  }
  protected override visibilityChanged(visible: boolean): void {
    this.onScreen = visible;
    if (visible) return this.schedule();
    this.runner?.stop();
    this.running = undefined;
    this.progress = undefined;
    if (!this.isConnected) {
      this.runner?.dispose();
      this.runner = undefined;
    }
  }

  /** What is still missing, the shown rows first. */
  private adopt(id: string): boolean {
    const row = this.isFresh ? undefined : measured.get(`${this.wasmUrl ?? ''}|${id}`);
    if (row) this.rows.set(id, row);
    return row !== undefined;
  }

  private keep(id: string, row: ScalingRow): void {
    this.rows.set(id, row);
    if (measured.size < kMeasuredLimit) measured.set(`${this.wasmUrl ?? ''}|${id}`, row);
  }

  private wanted(): { d: number; rules: ScoreRule[] } | undefined {
    const missing = (d: number, rules: ScoreRule[]) => {
      const left = rules.filter(
        (rule) => !this.row(d, rule) && !this.adopt(`${d}/${ruleId(rule)}`),
      );
      return left.length > 0 ? { d, rules: left } : undefined;
    };
    const shown = missing(this.shown.d, [kRaw, scoreRule(this.shown)]);
    if (shown) return shown;
    for (const d of kArticleDs) {
      const table = missing(d, [kRaw, kSqrt]);
      if (table) return table;
    }
    return undefined;
  }

  private schedule(): void {
    if (!this.engine || !this.isConnected || this.stopped) return;
    const next = this.wanted();
    if (!this.isPending) this.shownRowsAreThere();
    if (!next || !(this.onScreen || this.firstRows)) return;
    const rules = next.rules.map(ruleId).join();
    if (this.running?.d === next.d && this.running.rules === rules) return;
    this.runner ??= new Runner(
      this.wasmUrl === undefined ? undefined : new URL(this.wasmUrl, document.baseURI).href,
    );
    const running = { d: next.d, rules };
    this.running = running;
    this.progress = 0;
    const before = kArticleDs.includes(next.d as 16) ? kArticleDs.filter((d) => d < next.d) : [];
    const job = { ...next, before, seed: kSeed, trials: kTrials, keys: kKeys };
    this.runner
      .measure(job, (done) => {
        this.progress = done;
      })
      .then((rows) => {
        rows.forEach((row, i) => this.keep(`${next.d}/${ruleId(next.rules[i]!)}`, row));
        this.finished(running);
      })
      .catch((error: unknown) => {
        if (!(error instanceof Stopped)) this.fail(error);
      });
  }

  private finished(running: { d: number; rules: string }): void {
    if (this.running !== running) return;
    this.running = undefined;
    this.progress = undefined;
    this.requestUpdate();
    this.schedule();
  }

  private shownRowsAreThere(): void {
    this.firstRows?.();
    this.firstRows = undefined;
    const text = this.speakWhenDone ? this.summary() : undefined;
    this.speakWhenDone = false;
    if (text !== undefined) this.announce(text);
  }

  /** The shown rows are not there yet. */
  get isPending(): boolean {
    return !this.row(this.shown.d, kRaw) || !this.row(this.shown.d, scoreRule(this.shown));
  }
  get isTableDone(): boolean {
    return kArticleDs.every((d) => this.row(d, kRaw) && this.row(d, kSqrt));
  }

  /** While a slider is dragged. */
  show(fields: Partial<ScalingState>): void {
    this.preview = { ...this.state, ...fields };
    this.stopped = false;
    this.requestUpdate();
  }
  change(fields: Partial<ScalingState>): void {
    this.preview = undefined;
    this.stopped = false;
    this.commit({ ...this.state, ...fields });
  }
  stop(): void {
    this.runner?.stop();
    this.running = undefined;
    this.progress = undefined;
    this.stopped = true;
    this.announce(this.t('stopped'));
  }
  /** Draws everything anew, also what another element on the page has measured. */
  runAgain(): void {
    this.rows.clear();
    this.isFresh = true;
    this.stopped = false;
    this.speakWhenDone = true;
    this.requestUpdate();
  }

  /** While rows are drawn anew nothing moves: who reaches for "Stop" hits it. */
  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (!this.isPending) this.heights.clear();
    else if (this.heights.size === 0) {
      for (const part of kHeld)
        this.heights.set(part, this.held(part)?.getBoundingClientRect().height ?? 0);
    }
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    this.toggleAttribute('data-complete', this.isTableDone);
    for (const part of kHeld) {
      const height = this.heights.get(part);
      this.held(part)?.style.setProperty('min-block-size', height ? `${height}px` : '');
    }
  }

  private held(selector: string): HTMLElement | null {
    return this.renderRoot.querySelector(selector);
  }

  ruleText(state: ScalingState = this.shown): string {
    return this.t(state.rule);
  }

  protected summary(): string | undefined {
    const row = this.isPending ? undefined : this.row(this.shown.d, scoreRule(this.shown));
    if (!row) {
      this.speakWhenDone = true;
      return undefined;
    }
    return this.t('done', {
      d: this.shown.d,
      rule: this.ruleText(),
      top: formatNumber(row.top, this.locale),
      entropy: formatNumber(row.entropy, this.locale, 2),
      effective: this.choices(row),
      saturated: formatPercent(row.saturated, this.locale),
    });
  }

  /** 1.7 or 620: below ten with a decimal. */
  choices(row: ScalingRow): string {
    return formatNumber(row.effective, this.locale, row.effective < 10 ? 1 : 0, false);
  }

  protected renderStatic(): TemplateResult {
    return html`<p>${this.t('static')}</p>`;
  }

  protected renderFigure(): TemplateResult {
    return html`<div
        class="stack"
        @focusin=${(event: Event) => {
          this.cursor.focused(event);
          this.pointer.at(event);
        }}
        @pointerover=${this.pointer.at}
      >
        ${this.renderLead()} ${renderControls(this)} ${renderPair(this)} ${renderHistogram(this)}
        ${this.pointer.render(explain(this, this.pointer.place), this)} ${renderTable(this)}
      </div>
      ${this.renderActions(copies(this.state, this.localName, this.t('embedCode')))}`;
  }

  private renderLead(): TemplateResult {
    const { d, rule } = this.shown;
    const raw = this.row(d, kRaw);
    const row = this.row(d, scoreRule(this.shown));
    if (!raw || !row) {
      const percent = formatPercent(this.progress ?? 0, this.locale);
      return html`<p class="lead">${this.t('leadWait', { d, percent })}</p>`;
    }
    const bold = (at: ScalingRow): TemplateResult => html`<b class="w">${this.choices(at)}</b>`;
    const values = { d, rule: this.ruleText(), raw: bold(raw), share: bold(row) };
    return html`<p class="lead">${this.rich(rule === 'raw' ? 'leadRaw' : 'lead', values)}</p>`;
  }
}
