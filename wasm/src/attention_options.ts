// SPDX-License-Identifier: Apache-2.0
// Shapes and options of attention, checked and as attn.h has them.
import type { Call, Piece } from './call.js';
import {
  boolean,
  choice,
  finite,
  floats,
  integer,
  lengthOf,
  options as checked,
  type Names,
} from './check.js';
import { invalid } from './errors.js';
import type { AttentionForm, AttentionOptions, AttentionShape, FloatArray } from './types.js';

const forms = ['auto', 'flash', 'explicit', 'decode'] as const;
const aligns = ['bottom_right', 'top_left'] as const;

const shapeNames: Names<AttentionShape> = {
  batch: true,
  queryHeads: true,
  kvHeads: true,
  queries: true,
  keys: true,
  width: true,
  valueWidth: true,
  pageSize: true,
};
export const optionNames: Names<AttentionOptions> = {
  scale: true,
  causal: true,
  align: true,
  queryOffset: true,
  window: true,
  softcap: true,
};
const windowNames: Names<Required<AttentionOptions>['window']> = { left: true, right: true };

/** Extents and what they are called. */
export interface Extents {
  q: number[];
  k: number[];
  v: number[];
  o: number[];
  lse: number[];
  /** Of the scores. */
  grid: number[];
  axes: { q: string; k: string; v: string; o: string; lse: string };
  /** Undefined: keys are not in pages. */
  pageSize: number | undefined;
}

/** `cache`: the k of a function that may find its keys in pages. How many pages there are it says. */
export function extents(shape: AttentionShape, cache?: FloatArray): Extents {
  const s = checked('shape', shape, shapeNames);
  const batch = integer('shape.batch', s.batch === undefined ? 1 : s.batch);
  const queryHeads = integer('shape.queryHeads', s.queryHeads === undefined ? 1 : s.queryHeads);
  const kvHeads = integer('shape.kvHeads', s.kvHeads === undefined ? queryHeads : s.kvHeads);
  const queries = integer('shape.queries', s.queries);
  const keys = integer('shape.keys', s.keys);
  const width = integer('shape.width', s.width, 1);
  const valueWidth = integer(
    'shape.valueWidth',
    s.valueWidth === undefined ? width : s.valueWidth,
    1,
  );
  const all = {
    q: [batch, queryHeads, queries, width],
    o: [batch, queryHeads, queries, valueWidth],
    lse: [batch, queryHeads, queries],
    grid: [batch, queryHeads, queries, keys],
  };
  const axes = {
    q: 'batch x queryHeads x queries x width',
    k: 'batch x kvHeads x keys x width',
    v: 'batch x kvHeads x keys x valueWidth',
    o: 'batch x queryHeads x queries x valueWidth',
    lse: 'batch x queryHeads x queries',
  };
  if (s.pageSize === undefined) {
    const k = [batch, kvHeads, keys, width];
    const v = [batch, kvHeads, keys, valueWidth];
    return { ...all, k, v, axes, pageSize: undefined };
  }
  const pageSize = integer('shape.pageSize', s.pageSize, 1);
  if (cache === undefined) {
    throw invalid(`shape.pageSize is ${pageSize}, only attentionForward reads pages`);
  }
  if (keys % pageSize !== 0) {
    throw invalid(`shape.keys is ${keys}, needed is a multiple of shape.pageSize, ${pageSize}`);
  }
  const page = lengthOf([kvHeads, pageSize, width]);
  const pages = page === 0 ? 0 : Math.floor(floats('k', cache).length / page);
  return {
    ...all,
    k: [pages, kvHeads, pageSize, width],
    v: [pages, kvHeads, pageSize, valueWidth],
    axes: {
      ...axes,
      k: 'pages x kvHeads x pageSize x width',
      v: 'pages x kvHeads x pageSize x valueWidth',
    },
    pageSize,
  };
}

/** attn_attention_options */
export function optionsOf(
  call: Call,
  a: AttentionOptions & { form?: AttentionForm; kvSplits?: number },
): Piece {
  const { form = 'auto', align = 'bottom_right' } = a;
  const { left, right } = a.window === undefined ? {} : checked('window', a.window, windowNames);
  return call.struct(
    'iiiiiiiqqqqdd',
    choice('form', form, forms),
    boolean('causal', a.causal) ? 1 : 0,
    choice('align', align, aligns),
    a.queryOffset === undefined ? 0 : 1,
    a.scale === undefined ? 0 : 1,
    left === undefined ? 0 : 1,
    right === undefined ? 0 : 1,
    a.queryOffset === undefined ? 0 : integer('queryOffset', a.queryOffset, -Infinity),
    left === undefined ? 0 : integer('window.left', left),
    right === undefined ? 0 : integer('window.right', right),
    a.kvSplits === undefined ? 0 : integer('kvSplits', a.kvSplits),
    a.scale === undefined ? 0 : finite('scale', a.scale),
    a.softcap === undefined ? 0 : finite('softcap', a.softcap),
  );
}
