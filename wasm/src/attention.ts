// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { backendName } from './backends.js';
import {
  argument,
  boolean,
  choice,
  finite,
  integer,
  options as checked,
  tensor,
  type Names,
} from './check.js';
import type { WasmModule } from './module.js';
import type {
  AttentionBackwardArguments,
  AttentionForwardArguments,
  AttentionForwardResult,
  AttentionGradients,
  AttentionOptions,
  AttentionShape,
  AttentionWeightsArguments,
  AttentionWeightsResult,
  FloatArray,
} from './types.js';

const forms = ['flash', 'explicit'] as const;
const aligns = ['bottom_right', 'top_left'] as const;

const axes = {
  q: 'batch x queryHeads x queries x width',
  k: 'batch x kvHeads x keys x width',
  v: 'batch x kvHeads x keys x valueWidth',
  o: 'batch x queryHeads x queries x valueWidth',
  lse: 'batch x queryHeads x queries',
};

const shapeNames: Names<AttentionShape> = {
  batch: true,
  queryHeads: true,
  kvHeads: true,
  queries: true,
  keys: true,
  width: true,
  valueWidth: true,
};
const optionNames: Names<AttentionOptions> = {
  scale: true,
  causal: true,
  align: true,
  queryOffset: true,
};
const forwardNames: Names<AttentionForwardArguments<FloatArray>> = {
  q: true,
  k: true,
  v: true,
  shape: true,
  ...optionNames,
  form: true,
  backend: true,
};
const weightsNames: Names<AttentionWeightsArguments<FloatArray>> = {
  q: true,
  k: true,
  v: true,
  shape: true,
  ...optionNames,
};
const backwardNames: Names<AttentionBackwardArguments<FloatArray>> = {
  q: true,
  k: true,
  v: true,
  o: true,
  lse: true,
  dO: true,
  dLse: true,
  shape: true,
  ...optionNames,
  backend: true,
};

function shapes(shape: AttentionShape) {
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
  return {
    q: [batch, queryHeads, queries, width],
    k: [batch, kvHeads, keys, width],
    v: [batch, kvHeads, keys, valueWidth],
    o: [batch, queryHeads, queries, valueWidth],
    lse: [batch, queryHeads, queries],
    grid: [batch, queryHeads, queries, keys],
  };
}

// attn_attention_options
function optionsOf(call: Call, a: AttentionOptions & { form?: 'flash' | 'explicit' }) {
  const { form = 'flash', align = 'bottom_right' } = a;
  return call.struct(
    'iiiiiqd',
    choice('form', form, forms),
    boolean('causal', a.causal) ? 1 : 0,
    choice('align', align, aligns),
    a.queryOffset === undefined ? 0 : 1,
    a.scale === undefined ? 0 : 1,
    a.queryOffset === undefined ? 0 : integer('queryOffset', a.queryOffset, -Infinity),
    a.scale === undefined ? 0 : finite('scale', a.scale),
  );
}

export function attentionForward<A extends FloatArray>(
  module: WasmModule,
  a: AttentionForwardArguments<A>,
): AttentionForwardResult<A> {
  argument('attentionForward', a, forwardNames);
  const s = shapes(a.shape);
  const call = new Call(module);
  const backend = call.name(backendName(module, a.backend));
  const options = optionsOf(call, a);
  const like = { name: 'q', value: a.q };
  const q = call.input(tensor('q', a.q, s.q, axes.q), s.q);
  const k = call.input(tensor('k', a.k, s.k, axes.k, like), s.k);
  const v = call.input(tensor('v', a.v, s.v, axes.v, like), s.v);
  const o = call.output(a.q, s.o);
  const lse = call.output(a.q, s.lse);
  const args = [backend, options, q, k, v, o, lse];
  const [oOut, lseOut] = call.run('attn_attention_forward', args, [o, lse]);
  return { o: oOut, lse: lseOut };
}

export function attentionWeights<A extends FloatArray>(
  module: WasmModule,
  a: AttentionWeightsArguments<A>,
): AttentionWeightsResult<A> {
  argument('attentionWeights', a, weightsNames);
  const s = shapes(a.shape);
  const call = new Call(module);
  const options = optionsOf(call, a);
  const q = call.input(tensor('q', a.q, s.q, axes.q), s.q);
  const k = call.input(tensor('k', a.k, s.k, axes.k, { name: 'q', value: a.q }), s.k);
  const scores = call.output(a.q, s.grid);
  const weights = call.output(a.q, s.grid);
  const args = [options, q, k, scores, weights];
  const [scoresOut, weightsOut] = call.run('attn_attention_weights', args, [scores, weights]);
  return { scores: scoresOut, weights: weightsOut };
}

export function attentionBackward<A extends FloatArray>(
  module: WasmModule,
  a: AttentionBackwardArguments<A>,
): AttentionGradients<A> {
  argument('attentionBackward', a, backwardNames);
  const s = shapes(a.shape);
  const call = new Call(module);
  const backend = call.name(backendName(module, a.backend));
  const options = optionsOf(call, a);
  const like = { name: 'q', value: a.q };
  const q = call.input(tensor('q', a.q, s.q, axes.q), s.q);
  const k = call.input(tensor('k', a.k, s.k, axes.k, like), s.k);
  const v = call.input(tensor('v', a.v, s.v, axes.v, like), s.v);
  const o = call.input(tensor('o', a.o, s.o, axes.o, like), s.o);
  const lse = call.input(tensor('lse', a.lse, s.lse, axes.lse, like), s.lse);
  const dO = call.input(tensor('dO', a.dO, s.o, axes.o, like), s.o);
  const dLse =
    a.dLse === undefined ? 0 : call.input(tensor('dLse', a.dLse, s.lse, axes.lse, like), s.lse);
  const dq = call.output(a.q, s.q);
  const dk = call.output(a.q, s.k);
  const dv = call.output(a.q, s.v);
  const args = [backend, options, q, k, v, o, lse, dO, dLse, dq, dk, dv];
  const [dqOut, dkOut, dvOut] = call.run('attn_attention_backward', args, [dq, dk, dv]);
  return { dq: dqOut, dk: dkOut, dv: dvOut };
}
