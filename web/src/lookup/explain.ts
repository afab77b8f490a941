// SPDX-License-Identifier: Apache-2.0
// Formula, inputs and both precisions of the cell that the reader points at.
import { html } from 'lit';
import type { CellPlace } from '../core/editor.js';
import { formatNumber, plainNumber } from '../core/format.js';
import type { Provenance } from '../core/provenance.js';
import type { AttnLookup, Pair } from './element.js';
import {
  bestFormula,
  dotFormula,
  expFormula,
  leakFormula,
  outputFormula,
  scoreFormula,
  softmaxFormula,
  sumFormula,
} from './formulas.js';
import { labColumn } from './lab.js';

export function explain(host: AttnLookup, place: CellPlace | undefined): Provenance | undefined {
  if (!place) return undefined;
  const { grid, row, column } = place;
  const { query } = host.shown;
  const n = host.shown.k.length;
  switch (grid) {
    case 'scores':
      return column === 0 && row < n
        ? dot(host, query, row)
        : column === 1
          ? score(host, query, row)
          : column === 2
            ? row < n
              ? exponential(host, query, row)
              : sum(host, query)
            : host.shown.hard
              ? best(host, query, row)
              : weight(host, host.answer, query, row);
    case 'output':
      return output(host, grid, query, column);
    case 'dots':
      return dot(host, row, column);
    case 'p':
      return weight(host, host.answer, row, column);
    case 'o':
      return output(host, grid, row, column);
    case 'lab':
      return labCell(host, row, column);
    default:
      return undefined; // a cell that the reader types into comes from the reader
  }
}

const show = (host: AttnLookup, value: number): string => formatNumber(value, host.locale);
const list = (host: AttnLookup, values: readonly number[]): string =>
  `[${values.map((value) => plainNumber(value, host.locale)).join(', ')}]`;
const pick = (
  pair: Pair,
  name: 'dots' | 'scores' | 'exps' | 'sums' | 'weights' | 'leak',
  at: number,
) => ({
  fast: pair.fast[name][at] ?? NaN,
  exact: pair.exact[name][at] ?? NaN,
});

function dot(host: AttnLookup, i: number, j: number): Provenance {
  const { q, k } = host.shown;
  const inputs = `${list(host, q[i] ?? [])} · ${list(host, k[j] ?? [])}`;
  return { formula: dotFormula, inputs, ...pick(host.answer, 'dots', i * k.length + j) };
}

function score(host: AttnLookup, i: number, j: number): Provenance {
  const { q, k, scaled, causal } = host.shown;
  const at = i * k.length + j;
  const raw = show(host, host.answer.fast.dots[at] ?? 0);
  const width = q[0]?.length ?? 0;
  const inputs =
    causal && j > i ? `j = ${j + 1} > i = ${i + 1}: −∞` : scaled ? `${raw} ÷ √${width}` : raw;
  return { formula: scoreFormula, inputs, ...pick(host.answer, 'scores', at) };
}

function exponential(host: AttnLookup, i: number, j: number): Provenance {
  const at = i * host.shown.k.length + j;
  const inputs = `e^(${show(host, host.answer.fast.scores[at] ?? 0)})`;
  return { formula: expFormula, inputs, ...pick(host.answer, 'exps', at) };
}

function row(host: AttnLookup, of: ArrayLike<number>, i: number): string[] {
  const n = host.shown.k.length;
  return Array.from({ length: n }, (_, j) => show(host, of[i * n + j] ?? 0));
}

function sum(host: AttnLookup, i: number): Provenance {
  const inputs = row(host, host.answer.fast.exps, i).join(' + ');
  return { formula: sumFormula, inputs, ...pick(host.answer, 'sums', i) };
}

function weight(host: AttnLookup, pair: Pair, i: number, j: number): Provenance {
  const at = i * host.shown.k.length + j;
  const inputs = `${show(host, pair.fast.exps[at] ?? 0)} ÷ ${show(host, pair.fast.sums[i] ?? 0)}`;
  return { formula: softmaxFormula, inputs, ...pick(pair, 'weights', at) };
}

function best(host: AttnLookup, i: number, j: number): Provenance {
  const { fast, exact } = host.answer;
  const inputs = row(host, fast.scores, i).join(', ');
  const share = (best: number | bigint | undefined): number => Number(Number(best) === j);
  return {
    formula: bestFormula,
    inputs,
    fast: share(fast.hardKey[i]),
    exact: share(exact.hardKey[i]),
  };
}

function output(host: AttnLookup, grid: string, i: number, c: number): Provenance {
  const { v, hard } = host.shown;
  if (hard && grid === 'output') {
    const { fast, exact } = host.answer;
    const j = Number(fast.hardKey[i]);
    const at = i * (v[0]?.length ?? 0) + c;
    const inputs = j < 0 ? '∅' : list(host, v[j] ?? []);
    return {
      formula: bestFormula,
      inputs,
      fast: fast.hardOutput[at] ?? NaN,
      exact: exact.hardOutput[at] ?? NaN,
    };
  }
  const weights = row(host, host.answer.fast.weights, i);
  const inputs = weights
    .map((w, j) => `${w} × ${plainNumber(v[j]?.[c] ?? 0, host.locale)}`)
    .join(' + ');
  const at = i * (v[0]?.length ?? 0) + c;
  return {
    formula: outputFormula,
    inputs,
    fast: host.answer.fast.output[at] ?? NaN,
    exact: host.answer.exact.output[at] ?? NaN,
  };
}

function labCell(host: AttnLookup, kind: number, column: number): Provenance | undefined {
  const { lab, k } = host.shown;
  const shown = host.lab[kind];
  if (!shown) return undefined;
  const columns = labColumn(k.length);
  if (column < columns.leak) return weight(host, shown.future, lab, column);
  if (column >= columns.all) return weight(host, shown.all, lab, column - columns.all);
  const hidden = row(host, shown.future.fast.weights, lab).slice(lab + 1);
  return {
    formula: html`${leakFormula}`,
    inputs: hidden.join(' + '),
    ...pick(shown.future, 'leak', lab),
  };
}
