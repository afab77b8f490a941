// SPDX-License-Identifier: Apache-2.0
import type { Extents } from './attention_options.js';
import { type Call, i64, type Piece, u8 } from './call.js';
import {
  integer,
  integers,
  kindOf,
  lengthOf,
  list,
  show,
  tensor,
  wrongLength,
  type Names,
} from './check.js';
import { invalid } from './errors.js';
import type { AttentionRules, FloatArray } from './types.js';

export const ruleNames: Names<AttentionRules<FloatArray>> = {
  maskKeep: true,
  maskKeepShape: true,
  maskAdd: true,
  maskAddShape: true,
  sinks: true,
  kvLens: true,
  cuSeqlensQ: true,
  cuSeqlensK: true,
};

const gridAxes = 'batch x queryHeads x queries x keys';

/** attn_attention_rules; 0 where there are none, which the page's module takes too. */
export function rulesOf<A extends FloatArray>(
  call: Call,
  a: AttentionRules<A> & { q: A; pageTable?: ArrayLike<number> },
  s: Extents,
): Piece | 0 {
  const pointers = [
    maskKeep(call, a, s),
    maskAdd(call, a, s),
    sinks(call, a, s),
    indices(call, 'kvLens', a.kvLens, s.q.slice(0, 1), 'batch'),
    pageTable(call, a.pageTable, s),
    indices(call, 'cuSeqlensQ', a.cuSeqlensQ),
    indices(call, 'cuSeqlensK', a.cuSeqlensK),
  ];
  if (pointers.every((pointer) => pointer === 0)) return 0;
  return call.struct('iqqqqqqq', 0, ...pointers);
}

// [shape, what its extents are called]; the library says which of them do not fit the scores.
function maskShape(
  name: string,
  mask: unknown,
  shape: readonly number[] | undefined,
  s: Extents,
): [readonly number[], string] {
  if (shape === undefined) return [s.grid, gridAxes];
  if (mask === undefined) throw invalid(`${name}Shape is given, ${name} is not`);
  if (list(`${name}Shape`, shape).length !== 4) {
    throw invalid(`${name}Shape has ${shape.length} extents, needed are 4: ${gridAxes}`);
  }
  return [shape.map((extent, i) => integer(`${name}Shape[${i}]`, extent)), `${name}Shape`];
}

function maskKeep(call: Call, a: AttentionRules<FloatArray>, s: Extents): Piece | 0 {
  const { maskKeep: mask } = a;
  const [shape, axes] = maskShape('maskKeep', mask, a.maskKeepShape, s);
  if (mask === undefined) return 0;
  if (kindOf(mask) !== 'Uint8Array') {
    throw invalid(`maskKeep is ${show(mask)}, needed is a Uint8Array`);
  }
  if (mask.length !== lengthOf(shape)) throw wrongLength('maskKeep', mask.length, shape, axes);
  return call.input(mask, shape, u8);
}

function maskAdd<A extends FloatArray>(
  call: Call,
  a: AttentionRules<A> & { q: A },
  s: Extents,
): Piece | 0 {
  const { maskAdd: mask } = a;
  const [shape, axes] = maskShape('maskAdd', mask, a.maskAddShape, s);
  if (mask === undefined) return 0;
  return call.input(tensor('maskAdd', mask, shape, axes, { name: 'q', value: a.q }), shape);
}

function sinks<A extends FloatArray>(
  call: Call,
  a: AttentionRules<A> & { q: A },
  s: Extents,
): Piece | 0 {
  if (a.sinks === undefined) return 0;
  const shape = s.q.slice(1, 2);
  return call.input(
    tensor('sinks', a.sinks, shape, 'queryHeads', { name: 'q', value: a.q }),
    shape,
  );
}

function pageTable(call: Call, table: ArrayLike<number> | undefined, s: Extents): Piece | 0 {
  if ((table === undefined) !== (s.pageSize === undefined)) {
    throw invalid('pageTable and shape.pageSize are needed together');
  }
  const [batch, , , keys] = s.grid as [number, number, number, number];
  const shape = [batch, s.pageSize === undefined ? 0 : keys / s.pageSize];
  return indices(call, 'pageTable', table, shape, 'batch x keys / pageSize');
}

function indices(
  call: Call,
  name: string,
  values: ArrayLike<number> | undefined,
  shape?: readonly number[],
  axes?: string,
): Piece | 0 {
  if (values === undefined) return 0;
  const checked = integers(name, values, shape, axes);
  return call.input(checked, shape ?? [checked.length], i64);
}
