// SPDX-License-Identifier: Apache-2.0
// Undo, redo, reset and the copies: the same row of buttons in every element.
import { html, nothing, type ReactiveControllerHost, type TemplateResult } from 'lit';

export interface Copy {
  /** For tests and for whoever styles it. */
  what: string;
  label: string;
  text: () => string;
}

type Word = 'undo' | 'redo' | 'reset' | 'copyAs' | 'copied' | 'copyByHand';

interface Host extends ReactiveControllerHost {
  readonly renderRoot: ParentNode;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  undo(): void;
  redo(): void;
  reset(): void;
  announce(text: string): void;
  t(key: Word, values?: Record<string, string>): string;
}

export class Actions {
  /** What could not be copied and is shown instead. */
  private shown = '';

  constructor(private host: Host) {}

  render(copies: Copy[]): TemplateResult {
    const { host } = this;
    return html`<div class="row actions" part="actions">
        <div class="row">
          <button name="undo" @click=${() => host.undo()} ?disabled=${!host.canUndo}>
            ${host.t('undo')}
          </button>
          <button name="redo" @click=${() => host.redo()} ?disabled=${!host.canRedo}>
            ${host.t('redo')}
          </button>
          <button name="reset" @click=${() => host.reset()}>${host.t('reset')}</button>
        </div>
        <div class="row">
          ${copies.map(
            (copy) =>
              html`<button data-copy=${copy.what} @click=${() => this.copy(copy)}>
                ${host.t('copyAs', { what: copy.label })}
              </button>`,
          )}
        </div>
      </div>
      ${
        this.shown
          ? html`<label class="label"
              >${host.t('copyByHand')}
              <textarea class="copied" readonly rows="8" .value=${this.shown}></textarea>
            </label>`
          : nothing
      }`;
  }

  private async copy({ label, text }: Copy): Promise<void> {
    const { host } = this;
    this.shown = '';
    try {
      await navigator.clipboard.writeText(text());
      host.announce(host.t('copied', { what: label }));
    } catch {
      this.shown = text(); // no permission, or no secure context: show it, selected
    }
    host.requestUpdate();
    await host.updateComplete;
    host.renderRoot.querySelector<HTMLTextAreaElement>('textarea.copied')?.select();
  }
}
