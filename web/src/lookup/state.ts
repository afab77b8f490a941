// SPDX-License-Identifier: Apache-2.0
import type { Matrix } from '../core/engine.js';
import { clamp, type Fields, integer } from '../core/fragment.js';

/** What the reader can change. Rows are tokens. */
export interface LookupState {
  q: Matrix;
  k: Matrix;
  v: Matrix;
  /** Row of Q that asks. */
  query: number;
  causal: boolean;
  /** Divide by sqrt(d). */
  scaled: boolean;
  hard: boolean;
  /** Row of the mask lab. */
  lab: number;
}

export type MatrixName = 'q' | 'k' | 'v';

export const kWidth = 4;
export const kMaxTokens = 6;
const kLimit = 1000; // far beyond where e^score overflows in f32

/** Step 1's three tokens, four numbers each. */
export const article: LookupState = {
  q: [
    [1, 1, 0, 0],
    [0, 0, 0, 2],
    [2, 0, 2, 0],
  ],
  k: [
    [1, 0, 1, 0],
    [0, 1, 0, 1],
    [1, 1, 0, 0],
  ],
  v: [
    [1, 0, 1, 0],
    [0, 2, 0, 0],
    [0, 0, 0, 3],
  ],
  query: 2,
  causal: true,
  scaled: true,
  hard: false,
  lab: 0,
};

/** Within the limits, and with no more digits than the fragment keeps. */
export const entry = (value: number): number =>
  clamp(Math.round(value * 1e6) / 1e6, -kLimit, kLimit, 0) + 0;

export function withCell(
  state: LookupState,
  name: MatrixName,
  row: number,
  column: number,
  value: number,
): LookupState {
  const matrix = state[name].map((cells, i) =>
    i === row ? cells.with(column, entry(value)) : cells,
  );
  return { ...state, [name]: matrix };
}

export function withTokens(state: LookupState, tokens: number): LookupState {
  const n = clamp(tokens, 1, kMaxTokens, 3);
  const resize = (matrix: Matrix, fresh: (row: number) => number[]): Matrix =>
    Array.from({ length: n }, (_, row) => matrix[row] ?? fresh(row));
  // A fresh token asks for, and offers, one entry; so its weights can be followed by eye.
  const unit = (row: number): number[] =>
    Array.from({ length: kWidth }, (_, c) => (c === row % kWidth ? 1 : 0));
  return {
    ...state,
    q: resize(state.q, unit),
    k: resize(state.k, unit),
    v: resize(state.v, unit),
    query: Math.min(state.query, n - 1),
    lab: Math.min(state.lab, n - 1),
  };
}

const write = (matrix: Matrix): string => matrix.flat().join(',');

function read(text: string | undefined, tokens: number, fallback: Matrix): Matrix {
  const values = (text ?? '').split(',').map(Number);
  return Array.from({ length: tokens }, (_, row) =>
    Array.from({ length: kWidth }, (_, column) => {
      const value = text === undefined ? undefined : values[row * kWidth + column];
      return value === undefined || !Number.isFinite(value)
        ? (fallback[row]?.[column] ?? 0)
        : entry(value);
    }),
  );
}

export function toFields(state: LookupState): Fields {
  return {
    n: String(state.q.length),
    q: write(state.q),
    k: write(state.k),
    v: write(state.v),
    i: String(state.query + 1),
    c: state.causal ? '1' : '0',
    s: state.scaled ? '1' : '0',
    h: state.hard ? '1' : '0',
    m: String(state.lab + 1),
  };
}

export function fromFields(fields: Fields): LookupState {
  const n = integer(fields['n'], 1, kMaxTokens, article.q.length);
  return {
    q: read(fields['q'], n, article.q),
    k: read(fields['k'], n, article.k),
    v: read(fields['v'], n, article.v),
    query: integer(fields['i'], 1, n, Math.min(n, article.query + 1)) - 1,
    causal: fields['c'] !== '0',
    scaled: fields['s'] !== '0',
    hard: fields['h'] === '1',
    lab: integer(fields['m'], 1, n, 1) - 1,
  };
}

/** Whether Q, K and V are the article's, so that its figures stand on screen. */
export function isArticle(state: LookupState): boolean {
  return (
    state.scaled &&
    [state.q, state.k, state.v].every(
      (m, i) => write(m) === write([article.q, article.k, article.v][i]!),
    )
  );
}
