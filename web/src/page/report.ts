// SPDX-License-Identifier: Apache-2.0
// The article's figures, published beside computed beside verdict; and the same figures inside the prose.
import type { Figure, FigureValue } from 'attn';
import { html, nothing, render, type TemplateResult } from 'lit';
import { formatNumber } from '../core/format.js';
import { ask } from './ask.js';
import type { ReportNews } from './report-worker.js';

const kSteps: Record<number, string> = {
  1: 'Step 1: soft lookup',
  2: 'Step 2: scaling',
  3: 'Step 3: the Jacobian of softmax',
  4: 'Step 4: cost',
  5: 'Step 5: circuits of low rank',
  6: 'Step 6: shared and latent keys',
  7: 'Step 7: linear attention',
  8: 'In real models',
};
const kVerdicts: Record<Figure['verdict'], string> = {
  agrees: '✓ agrees',
  differs: '✗ differs',
  later: 'later',
  'needs-file': 'needs a file',
};

/* Roles are written out: stacked on a narrow screen, the table would lose its own. */

/** Computes the report in a worker and fills `target`, and every <data data-figure> of the page. */
export function startReport(target: HTMLElement): void {
  target.replaceChildren();
  render(html`<p class="note" role="status">Computing every figure …</p>`, target);
  const worker = new Worker(new URL('./report-worker.js', import.meta.url), { type: 'module' });
  ask<ReportNews>(worker).then(
    (news) => {
      render(renderReport(news), target);
      fillProse(news.figures);
      target.dataset['state'] = 'ready';
    },
    (error: Error) => fail(target, error.message),
  );
}

function fail(target: HTMLElement, reason: string): void {
  render(html`<p role="alert"><b>The report could not run here.</b> ${reason}</p>`, target);
  target.dataset['state'] = 'error';
}

function renderReport({ figures, ms, variant }: ReportNews): TemplateResult {
  const count = (verdict: Figure['verdict']): number =>
    figures.filter((figure) => figure.verdict === verdict).length;
  const [agree, differ] = [count('agrees'), count('differs')];
  return html`<table class="report" role="table">
    <caption>
      <b>${agree} of ${agree + differ} computed figures agree</b>
      with the article; ${figures.length - agree - differ} are not computed in this version. Took
      ${formatNumber(ms, 'en', 0)} ms here, with
      ${variant === 'relaxed' ? 'relaxed SIMD' : 'SIMD of 128 bits'}.
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        <th scope="col" role="columnheader">Figure</th>
        <th scope="col" role="columnheader">Published</th>
        <th scope="col" role="columnheader">Computed</th>
        <th scope="col" role="columnheader">Verdict</th>
      </tr>
    </thead>
    ${[...new Set(figures.map(({ step }) => step))].map(
      (step) =>
        html`<tbody role="rowgroup">
          <tr role="row" class="group">
            <th role="rowheader" scope="rowgroup" colspan="4">${kSteps[step] ?? `Step ${step}`}</th>
          </tr>
          ${figures.filter((figure) => figure.step === step).map(renderFigure)}
        </tbody>`,
    )}
  </table>`;
}

function renderFigure(figure: Figure): TemplateResult {
  return html`<tr role="row" id="figure-${figure.id}" data-verdict=${figure.verdict}>
    <th scope="row" role="rowheader">
      ${figure.what}${figure.note ? html`<small>${figure.note}</small>` : nothing}
    </th>
    <td role="cell" data-label="published">${lines(figure.published)}</td>
    <td role="cell" data-label="computed">
      ${figure.computed === null ? '' : lines(figure.computed)}
    </td>
    <td role="cell" class="verdict ${figure.verdict === 'differs' ? 'bad' : ''}">
      ${kVerdicts[figure.verdict]}
    </td>
  </tr>`;
}

/** One line a row of a matrix or of a table. */
function lines(value: FigureValue): unknown {
  if (typeof value !== 'object') return scalar(value);
  const rows = Object.entries(value);
  const isFlat = rows.every(([, item]) => typeof item !== 'object');
  if (isFlat) return rows.map(([, item]) => scalar(item as string | number)).join(', ');
  const names = !Array.isArray(value);
  return rows.map(
    ([name, item], i) =>
      html`${i > 0 ? html`<br />` : nothing}${names ? `${name}: ` : ''}${lines(item)}`,
  );
}

/** Six significant digits show more than the article prints and less than noise. */
function scalar(value: string | number): string {
  if (typeof value === 'string') return value;
  if (!Number.isFinite(value) || Number.isInteger(value)) return formatNumber(value, 'en', 0);
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(6))) : value.toExponential(3);
}

/** Numbers in the prose are computed too: to the digits printed, marked where they agree. */
function fillProse(figures: Figure[]): void {
  for (const data of document.querySelectorAll<HTMLDataElement>('data[data-figure]')) {
    const leaf = figures.find(({ id }) => id === data.dataset['figure'])?.leaves[
      Number(data.dataset['leaf'])
    ];
    if (!leaf || typeof leaf.computed !== 'number') continue;
    const digits = data.dataset['digits'] ?? String(leaf.published.split('.')[1]?.length ?? 0);
    data.value = String(leaf.computed);
    data.title = `computed: ${leaf.computed}`;
    data.dataset['verdict'] = leaf.agrees ? 'agrees' : 'differs';
    // Where the article rounds ("about 620"), its figure stays and the title has ours.
    if (data.dataset['digits'] === undefined) {
      data.textContent =
        formatNumber(leaf.computed, 'en', Number(digits)) + (data.dataset['unit'] ?? '');
    }
  }
}
