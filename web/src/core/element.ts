// SPDX-License-Identifier: Apache-2.0
// What all elements share: they start when near, keep a history, live in the URL fragment when asked to, and say
// so when the module cannot run.
import { html, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { Actions, type Copy } from './actions.js';
import { readAddress, writeAddress } from './address.js';
import { type Engine, openEngine } from './engine.js';
import { decodeFields, type Fields } from './fragment.js';
import { History } from './history.js';
import { LocalisedElement } from './localised.js';
import type { Titled } from './strings.js';

export type Phase = 'idle' | 'loading' | 'ready' | 'error';
export type Theme = 'auto' | 'light' | 'dark';

const kNear = '300px';
const kHoldMs = 200;
const kAnnounceAfterMs = 250; // one sentence after the last of several quick commits

/**
 * @fires attn-ready - the module runs and the numbers are on screen
 * @fires attn-error - the module could not start; detail.message says why
 * @fires attn-change - the reader committed a change; detail.state is the new state
 * @csspart panel - the frame
 * @csspart figure - the picture itself
 * @csspart controls - what changes it
 * @csspart provenance - the strip that says where a number comes from
 * @csspart actions - undo, redo, reset, copies
 * @csspart loading - what stands there until the module runs
 * @csspart error - the message where the module cannot run
 * @slot fallback - shown instead of the element where the module cannot run
 */
export abstract class AttnElement<S, Strings extends Titled> extends LocalisedElement<Strings> {
  static override properties: PropertyDeclarations = {
    theme: { type: String, reflect: true },
    wasmUrl: { type: String, attribute: 'wasm-url' },
    stateKey: { type: String, attribute: 'state-key' },
    initial: { type: String, attribute: 'state' },
    headingLevel: { type: Number, attribute: 'heading-level' },
    phase: { state: true },
    announcement: { state: true },
  };

  declare theme: Theme;
  declare wasmUrl: string | undefined;
  /** Keeps the state in the URL fragment under this name. */
  declare stateKey: string | undefined;
  /** The state to begin with, as "copy embed code" writes it. */
  declare initial: string | undefined;
  /** Level of the headings inside, to fit the page around: 2 unless told. */
  declare headingLevel: number;
  declare protected phase: Phase;
  declare protected announcement: string;

  protected engine: Engine | undefined;
  private readonly history: History<S>;
  private readonly actions = new Actions(this);
  private failure = '';
  private observer: IntersectionObserver | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private holding: ReturnType<typeof setTimeout> | undefined;
  private visible = false;

  constructor() {
    super();
    this.theme = 'auto';
    this.headingLevel = 2;
    this.phase = 'idle';
    this.announcement = '';
    this.history = new History(this.articleState());
  }

  /** The numbers of the article. */
  protected abstract articleState(): S;
  protected abstract toFields(state: S): Fields;
  /** Any text at all to a state within the limits. */
  protected abstract fromFields(fields: Fields): S;
  /** What to say after a commit; undefined while the result is not there yet. */
  protected abstract summary(): string | undefined;
  protected abstract renderFigure(): TemplateResult;
  /** The article's figure as text, for readers whose browser cannot run the module. */
  protected abstract renderStatic(): TemplateResult;
  /** Brings results up to date with the state; called before each render once the module runs. */
  protected abstract compute(engine: Engine): void;
  /** The element left the screen or came back. */
  protected visibilityChanged(_visible: boolean): void {}
  /** Resolves when the first numbers can be shown; most elements have them at once. */
  protected firstNumbers(): Promise<void> {
    return Promise.resolve();
  }

  /** The committed state; assign one to show it. Values outside the limits are clamped. */
  get state(): S {
    return this.history.state;
  }
  set state(next: S) {
    this.commit(this.fromFields(this.toFields(next)), false);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('hashchange', this.readHash);
    this.setAttribute('data-state', this.hostState());
    this.observer = new IntersectionObserver(this.onIntersection, { rootMargin: kNear });
    this.observer.observe(this);
    // The observer answers after a frame, a tenth of a second on a slow machine: time to fetch in.
    if (this.checkVisibility() && this.getBoundingClientRect().top < innerHeight) {
      openEngine(this.wasmUrl).catch(() => {}); // start() asks again, and tells
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener('hashchange', this.readHash);
    this.observer?.disconnect();
    this.observer = undefined;
    clearTimeout(this.timer);
    this.visible = false;
    this.visibilityChanged(false);
  }

  private onIntersection = (entries: IntersectionObserverEntry[]): void => {
    const visible = entries.at(-1)?.isIntersecting ?? false;
    if (visible && this.phase === 'idle') void this.start();
    if (visible === this.visible) return;
    this.visible = visible;
    this.visibilityChanged(visible);
  };

  /** Loads the module and shows the numbers, without waiting until the element is near. */
  async start(): Promise<void> {
    if (this.phase === 'loading' || this.phase === 'ready') return;
    this.phase = 'loading';
    try {
      this.engine = await openEngine(this.wasmUrl);
      this.compute(this.engine);
      this.requestUpdate();
      await this.firstNumbers();
      this.phase = 'ready';
    } catch (error) {
      return this.fail(error);
    }
    await this.settle('attn-ready', {});
  }

  protected async fail(error: unknown): Promise<void> {
    this.failure = error instanceof Error ? error.message : String(error);
    this.phase = 'error';
    await this.settle('attn-error', { message: this.failure });
  }

  private async settle(event: string, detail: object): Promise<void> {
    await this.updateComplete;
    this.setAttribute('data-state', this.hostState());
    this.tell(event, detail);
  }

  private hostState(): string {
    return this.phase === 'idle' ? 'loading' : this.phase;
  }

  private tell(event: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(event, { bubbles: true, composed: true, detail }));
  }

  /**
   * WebKit (2.50) lays a size container out before the style of all that is new in it is known: for
   * that moment it may be so short that the page's scroll position no longer exists, and the page
   * jumps. So the panel keeps its height until updates have ended.
   */
  protected override performUpdate(): void {
    const panel = this.renderRoot.querySelector<HTMLElement>('[part~=panel]');
    if (panel) panel.style.minBlockSize = `${panel.offsetHeight}px`;
    super.performUpdate();
    clearTimeout(this.holding);
    if (panel) this.holding = setTimeout(() => (panel.style.minBlockSize = ''), kHoldMs);
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (changed.has('initial') && this.initial !== undefined)
      this.begin(decodeFields(this.initial));
    if (changed.has('stateKey') && this.stateKey) this.begin(readAddress(this.stateKey));
    if (this.engine) this.compute(this.engine);
  }

  /** Before the reader has done anything, a given state is where the history begins. */
  private begin(fields: Fields | undefined): void {
    if (!fields) return;
    if (this.history.canUndo) this.commit(this.fromFields(fields), false);
    else this.history.start(this.fromFields(fields));
  }

  private readHash = (): void => {
    const fields = this.stateKey ? readAddress(this.stateKey) : undefined;
    if (fields) this.commit(this.fromFields(fields), false);
  };

  /** One undoable change, told once. */
  protected commit(next: S, speak = true): void {
    if (JSON.stringify(next) === JSON.stringify(this.history.state)) return this.requestUpdate();
    this.history.commit(next);
    this.afterChange(speak);
  }

  get canUndo(): boolean {
    return this.history.canUndo;
  }
  get canRedo(): boolean {
    return this.history.canRedo;
  }
  undo(): void {
    if (this.history.undo()) this.afterChange(true);
  }
  redo(): void {
    if (this.history.redo()) this.afterChange(true);
  }
  /** Back to the article's numbers; can be undone. */
  reset(): void {
    this.commit(this.articleState());
  }

  private afterChange(speak: boolean): void {
    this.requestUpdate();
    if (this.stateKey) {
      writeAddress(this.stateKey, this.toFields(this.state), this.toFields(this.articleState()));
    }
    this.tell('attn-change', { state: this.state });
    if (!speak) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const text = this.phase === 'ready' ? this.summary() : undefined;
      if (text !== undefined) this.announce(text);
    }, kAnnounceAfterMs);
  }

  /** Said by screen readers, once; also when it is what was said last. */
  announce(text: string): void {
    this.announcement = text === this.announcement ? `${text}\u00a0` : text;
  }

  protected onKey(event: KeyboardEvent): void {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (!isUndo || event.key.toLowerCase() !== 'z') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey) this.redo();
    else this.undo();
  }

  heading(text: string): TemplateResult {
    const level = Math.min(6, Math.max(1, this.headingLevel || 2));
    return html`<div class="heading" role="heading" aria-level=${level}>${text}</div>`;
  }

  protected renderActions(copies: Copy[]): TemplateResult {
    return this.actions.render(copies);
  }

  protected override render(): TemplateResult {
    if (this.phase === 'error') return this.renderFailure();
    return html`<section
      class="panel"
      part="panel"
      aria-label=${this.t('title')}
      aria-busy=${this.phase === 'ready' ? 'false' : 'true'}
      @keydown=${this.onKey}
    >
      ${this.engine ? this.renderFigure() : this.renderLoading()}
      <p class="sr" role="status">${this.announcement}</p>
    </section>`;
  }

  /** Paper does not wait until the element is near: it gets the article's figure. */
  private renderLoading(): TemplateResult {
    return html`<p class="note on-screen" part="loading">${this.t('loading')}</p>
      <div class="on-paper">${this.renderStatic()}</div>`;
  }

  private renderFailure(): TemplateResult {
    return html`<section class="panel" part="panel" aria-label=${this.t('title')}>
      <p class="failure" part="error" role="alert">
        <b>${this.t('cannotRun')}</b><br />${this.failure}
      </p>
      <slot name="fallback">${this.renderStatic()}</slot>
    </section>`;
  }
}
