// SPDX-License-Identifier: Apache-2.0
// The portable backend's digest, computed here when the reader asks, beside the native one.
import { html, render } from 'lit';
import { formatNumber } from '../core/format.js';
import { ask } from './ask.js';
import type { DigestNews } from './digest-worker.js';

/** Puts the button into `target`. */
export function offerDigest(target: HTMLElement): void {
  target.dataset['state'] = 'offered';
  render(
    html`<button type="button" @click=${() => compute(target)}>Compare the bits</button>`,
    target,
  );
}

function compute(target: HTMLElement): void {
  target.dataset['state'] = 'loading';
  render(html`<p role="status">Computing …</p>`, target);
  const worker = new Worker(new URL('./digest-worker.js', import.meta.url), { type: 'module' });
  ask<DigestNews>(worker).then(
    (news) => show(target, news),
    (error: Error) => fail(target, error.message),
  );
}

function fail(target: HTMLElement, reason: string): void {
  render(html`<p role="alert"><b>The digest could not be computed.</b> ${reason}</p>`, target);
  target.dataset['state'] = 'error';
}

function show(target: HTMLElement, { digest, native, ms }: DigestNews): void {
  const same = digest === native;
  render(
    html`<dl class="digest" role="status">
      <div>
        <dt>native</dt>
        <dd>${native}</dd>
      </div>
      <div>
        <dt>this browser</dt>
        <dd>${digest}</dd>
      </div>
      <div>
        <dt class=${same ? '' : 'bad'}>${same ? '✓ the same bits' : '✗ other bits'}</dt>
        <dd class="took">took ${formatNumber(ms, 'en', 0)} ms here</dd>
      </div>
    </dl>`,
    target,
  );
  target.dataset['state'] = same ? 'same' : 'different';
}
