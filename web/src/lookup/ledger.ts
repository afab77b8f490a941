// SPDX-License-Identifier: Apache-2.0
// The figure itself, read from left to right as a lookup: which query asks, how well each key matches, what
// weight that gives, and the values that the weights blend. Row j of every table is token j.
import { html, nothing, type TemplateResult } from 'lit';
import { formatPercent, number } from '../core/format.js';
import { vars } from '../core/vars.js';
import { editableCells, entryHeaders, readKeys, valueCell } from './cells.js';
import type { AttnLookup } from './element.js';
import { weightFormula } from './formulas.js';
import type { MatrixName } from './state.js';

export function renderLedger(host: AttnLookup): TemplateResult {
  const { key, i, j, share } = host.lead();
  const values = { i, j, share: html`<b class="w">${share}</b>` };
  return html`<div
    class="ledger"
    part="figure"
    @focusin=${(event: Event) => {
      host.cursor.focused(event);
      host.pointer.at(event);
    }}
    @pointerover=${host.pointer.at}
  >
    <header class="head">
      <p class="lead">${host.rich(key, values)}</p>
      ${renderBeam(host)}
      <p class="formula">${weightFormula}</p>
      <p class="note">${host.t('editHint')} ${host.t('pointHint')}</p>
    </header>
    <div class="area-q">${renderQueries(host)}</div>
    <div class="area-k">${renderMatrix(host, 'k')}</div>
    <div class="area-s">${renderScores(host)}</div>
    <div class="area-v">${renderMatrix(host, 'v')}</div>
  </div>`;
}

/** The full unit of weight that a query hands out, as one bar. */
function renderBeam(host: AttnLookup): TemplateResult {
  const { query, hard, k } = host.shown;
  const { weights, hardKey } = host.answer.fast;
  const n = k.length;
  return html`<div class="beam" aria-hidden="true">
    ${k.map((_, j) => {
      const weight = hard ? Number(Number(hardKey[query]) === j) : (weights[query * n + j] ?? 0);
      return html`<span
        class="part"
        ?data-empty=${!(weight > 0)}
        ${vars({ '--grow': weight > 0 ? weight : 0 })}
        ><b>${j + 1}</b
        >${weight > 0.2 ? html`<span>${formatPercent(weight, host.locale, 1)}</span>` : nothing}</span
      >`;
    })}
  </div>`;
}

function renderQueries(host: AttnLookup): TemplateResult {
  const { q, query } = host.shown;
  return html`<table role="grid" class="tiles" aria-label=${host.t('queries')}>
    <caption class="q">
      ${host.t('queries')}
    </caption>
    <thead>
      <tr>
        <td class="corner"></td>
        ${entryHeaders(host, q[0]?.length ?? 0)}
      </tr>
    </thead>
    <tbody>
      ${q.map(
        (_, row) =>
          html`<tr class=${row === query ? 'chosen' : nothing}>
            <th scope="row">
              <label class="ask"
                ><input
                  type="radio"
                  name="query"
                  .checked=${row === query}
                  aria-label=${host.t('asks', { n: row + 1 })}
                  @change=${() => host.change({ query: row })}
                />
                <span aria-hidden="true">${row + 1}</span></label
              >
            </th>
            ${editableCells(host, 'q', row)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function renderMatrix(host: AttnLookup, name: MatrixName): TemplateResult {
  const matrix = host.shown[name];
  const title = host.t(name === 'k' ? 'keys' : 'values');
  const { query, hard } = host.shown;
  const { weights, hardKey } = host.answer.fast;
  const n = matrix.length;
  const share = (row: number): number =>
    name === 'k'
      ? 0
      : hard
        ? Number(Number(hardKey[query]) === row)
        : (weights[query * n + row] ?? 0);
  return html`<table role="grid" class="tiles" aria-label=${title}>
    <caption class=${name}>
      ${title}
    </caption>
    <thead>
      <tr>
        <td class="corner"></td>
        ${entryHeaders(host, matrix[0]?.length ?? 0)}
      </tr>
    </thead>
    <tbody>
      ${matrix.map(
        (_, row) =>
          html`<tr class=${name === 'v' ? 'blend' : nothing} ${vars({ '--share': share(row) })}>
            <th scope="row">${row + 1}</th>
            ${editableCells(host, name, row)}
          </tr>`,
      )}
    </tbody>
    ${name === 'v' ? renderOutput(host) : nothing}
  </table>`;
}

function renderScores(host: AttnLookup): TemplateResult {
  const { k, query, causal, scaled, hard } = host.shown;
  const { dots, scores, exps, sums, weights, hardKey } = host.answer.fast;
  const n = k.length;
  const at = (of: ArrayLike<number>, j: number): number => of[query * n + j] ?? 0;
  const figure = (id: string, index?: number) =>
    host.showsArticle && query === 2
      ? { id, ...(index === undefined ? {} : { index: String(index) }) }
      : undefined;
  // A column of whole numbers needs no room for decimals.
  const digits = (of: ArrayLike<number>): number =>
    k.every((_, j) => Number.isInteger(at(of, j))) ? 0 : 3;
  const overflow = !Number.isFinite(sums[query] ?? 0);
  return html`<table
      role="grid"
      class="scores"
      aria-label=${host.t('keysAndScores')}
      @keydown=${readKeys(host)}
    >
      <caption>
        ${host.t('keysAndScores')}
      </caption>
      <thead>
        <tr>
          <td class="corner"></td>
          <th scope="col">${host.t('dots')}</th>
          <th scope="col">${host.t(scaled ? 'scaledScores' : 'unscaledScores')}</th>
          <th scope="col">${host.t('exps')}</th>
          <th scope="col" class="w weight">${host.t('weights')}</th>
        </tr>
      </thead>
      <tbody>
        ${k.map((_, j) => {
          const masked = causal && j > query;
          const weight = hard ? Number(Number(hardKey[query]) === j) : at(weights, j);
          return html`<tr class=${masked ? 'masked' : nothing}>
            <th scope="row">
              ${j + 1}${masked ? html`<span class="sr"> ${host.t('hiddenScore')}</span>` : nothing}
            </th>
            ${valueCell(host, 'scores', j, 0, at(dots, j), { digits: digits(dots) })}
            ${valueCell(host, 'scores', j, 1, at(scores, j), { digits: digits(scores), figure: figure('s1.scores_token3', j) })}
            ${valueCell(host, 'scores', j, 2, at(exps, j), { figure: figure('s1.exps', j) })}
            ${valueCell(host, 'scores', j, 3, weight, {
              className: 'weight w',
              figure: hard ? undefined : figure('s1.weights_token3', j),
              content: html`<span class="bar" ${vars({ '--share': weight > 0 ? weight : 0 })}></span
                >${number(weight, host.locale)}`,
            })}
          </tr>`;
        })}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colspan="3">${host.t('sum')}</th>
          ${valueCell(host, 'scores', n, 2, sums[query] ?? 0, { figure: figure('s1.exp_sum') })}
          <td></td>
        </tr>
      </tfoot>
    </table>
    ${overflow ? html`<p class="note">${host.t('overflow')}</p>` : nothing}`;
}

function renderOutput(host: AttnLookup): TemplateResult {
  const { v, query, hard } = host.shown;
  const { output, hardOutput } = host.answer.fast;
  const width = v[0]?.length ?? 0;
  const shown = hard ? hardOutput : output;
  const isFigure = host.showsArticle && query === 2 && !hard;
  const isWhole = Array.from(shown.slice(query * width, (query + 1) * width)).every(
    Number.isInteger,
  );
  return html`<tfoot @keydown=${readKeys(host)}>
    <tr>
      <th scope="row" class="v">
        <span aria-hidden="true">o</span><span class="sr">${host.t('output')}</span>
      </th>
      ${Array.from({ length: width }, (_, c) =>
        valueCell(host, 'output', 0, c, shown[query * width + c] ?? 0, {
          className: 'v',
          digits: isWhole ? 0 : 3,
          figure: isFigure ? { id: 's1.output_token3', index: String(c) } : undefined,
        }),
      )}
    </tr>
  </tfoot>`;
}
