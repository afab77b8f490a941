// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { backendName } from './backends.js';
import {
  argument,
  boolean,
  choice,
  finite,
  floatType,
  integer,
  lengthOf,
  show,
  tensor,
  wrongLength,
  type Names,
} from './check.js';
import { invalid } from './errors.js';
import type { WasmModule } from './module.js';
import { numbers, takeResult } from './result.js';
import type { FloatArray, SoftLookupArguments, SoftLookupResult } from './types.js';

const hiddenScores = ['minus_infinity', 'zero', 'lowest_finite', 'minus_billion'] as const;

const names: Names<SoftLookupArguments<FloatArray>> = {
  q: true,
  k: true,
  v: true,
  queries: true,
  keys: true,
  width: true,
  valueWidth: true,
  scale: true,
  causal: true,
  hidden: true,
  hiddenScore: true,
  backend: true,
};

/** 1 hides. */
function maskOf(hidden: ArrayLike<number | boolean>, shape: readonly number[]): Uint8Array {
  const length: unknown = (hidden as Partial<typeof hidden> | null)?.length;
  if (typeof hidden !== 'object' || typeof length !== 'number') {
    throw invalid(`hidden is ${show(hidden)}, needed is an array`);
  }
  if (length !== lengthOf(shape)) throw wrongLength('hidden', length, shape, 'queries x keys');
  return Uint8Array.from(hidden, (h: unknown, i) => {
    if (typeof h !== 'boolean' && h !== 0 && h !== 1) {
      throw invalid(`hidden[${i}] is ${show(h)}, needed is true, false, 1 or 0`);
    }
    return Number(h);
  });
}

export function softLookup<A extends FloatArray>(
  module: WasmModule,
  a: SoftLookupArguments<A>,
): SoftLookupResult<A> {
  const { hidden, hiddenScore = 'minus_infinity' } = argument('softLookup', a, names);
  const queries = integer('queries', a.queries);
  const keys = integer('keys', a.keys);
  const width = integer('width', a.width, 1);
  const valueWidth = integer('valueWidth', a.valueWidth === undefined ? width : a.valueWidth, 1);
  const like = { name: 'q', value: a.q };
  const shape = { q: [queries, width], k: [keys, width], v: [keys, valueWidth] };
  const call = new Call(module);
  const backend = call.name(backendName(module, a.backend));
  const options = call.struct(
    'iiid',
    boolean('causal', a.causal) ? 1 : 0,
    choice('hiddenScore', hiddenScore, hiddenScores),
    a.scale === undefined ? 0 : 1,
    a.scale === undefined ? 0 : finite('scale', a.scale),
  );
  const q = call.input(tensor('q', a.q, shape.q, 'queries x width'), shape.q);
  const k = call.input(tensor('k', a.k, shape.k, 'keys x width', like), shape.k);
  const v = call.input(tensor('v', a.v, shape.v, 'keys x valueWidth', like), shape.v);
  const mask = hidden === undefined ? 0 : call.raw(maskOf(hidden, [queries, keys]));
  const fields = takeResult(
    module,
    call.create('attn_soft_lookup', [backend, options, q, k, v, mask]),
  );
  // Fields are doubles; those of f32 convert back exactly.
  const type = floatType(a.q);
  const get = (name: string): A => type.from(numbers(fields, name)) as A;
  return {
    dots: get('dots'),
    scores: get('scores'),
    exps: get('exps'),
    sums: get('sums'),
    naive: get('naive'),
    weights: get('weights'),
    lse: get('lse'),
    output: get('output'),
    leak: get('leak'),
    hardKey: Int32Array.from(numbers(fields, 'hard_key')),
    hardOutput: get('hard_output'),
  };
}
