// SPDX-License-Identifier: Apache-2.0
import { extents, optionNames, optionsOf } from './attention_options.js';
import { ruleNames, rulesOf } from './attention_rules.js';
import { backendName } from './backends.js';
import { Call } from './call.js';
import { argument, tensor, type Names } from './check.js';
import type { WasmModule } from './module.js';
import type {
  AttentionBackwardArguments,
  AttentionForwardArguments,
  AttentionForwardResult,
  AttentionGradients,
  AttentionWeightsArguments,
  AttentionWeightsResult,
  FloatArray,
} from './types.js';

const forwardNames: Names<AttentionForwardArguments<FloatArray>> = {
  q: true,
  k: true,
  v: true,
  shape: true,
  ...optionNames,
  form: true,
  kvSplits: true,
  ...ruleNames,
  pageTable: true,
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
  ...ruleNames,
  backend: true,
};

export function attentionForward<A extends FloatArray>(
  module: WasmModule,
  a: AttentionForwardArguments<A>,
): AttentionForwardResult<A> {
  argument('attentionForward', a, forwardNames);
  const s = extents(a.shape, a.k);
  const call = new Call(module);
  const backend = call.name(backendName(module, a.backend));
  const options = optionsOf(call, a);
  const like = { name: 'q', value: a.q };
  const q = call.input(tensor('q', a.q, s.q, s.axes.q), s.q);
  const k = call.input(tensor('k', a.k, s.k, s.axes.k, like), s.k);
  const v = call.input(tensor('v', a.v, s.v, s.axes.v, like), s.v);
  const o = call.output(a.q, s.o);
  const lse = call.output(a.q, s.lse);
  const args = [backend, options, rulesOf(call, a, s), q, k, v, o, lse];
  const [oOut, lseOut] = call.run('attn_attention_forward', args, [o, lse]);
  return { o: oOut, lse: lseOut };
}

export function attentionWeights<A extends FloatArray>(
  module: WasmModule,
  a: AttentionWeightsArguments<A>,
): AttentionWeightsResult<A> {
  argument('attentionWeights', a, weightsNames);
  const s = extents(a.shape);
  const call = new Call(module);
  const options = optionsOf(call, a);
  const q = call.input(tensor('q', a.q, s.q, s.axes.q), s.q);
  const k = call.input(tensor('k', a.k, s.k, s.axes.k, { name: 'q', value: a.q }), s.k);
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
  const s = extents(a.shape);
  const call = new Call(module);
  const backend = call.name(backendName(module, a.backend));
  const options = optionsOf(call, a);
  const like = { name: 'q', value: a.q };
  const q = call.input(tensor('q', a.q, s.q, s.axes.q), s.q);
  const k = call.input(tensor('k', a.k, s.k, s.axes.k, like), s.k);
  const v = call.input(tensor('v', a.v, s.v, s.axes.v, like), s.v);
  const o = call.input(tensor('o', a.o, s.o, s.axes.o, like), s.o);
  const lse = call.input(tensor('lse', a.lse, s.lse, s.axes.lse, like), s.lse);
  const dO = call.input(tensor('dO', a.dO, s.o, s.axes.o, like), s.o);
  const dLse =
    a.dLse === undefined ? 0 : call.input(tensor('dLse', a.dLse, s.lse, s.axes.lse, like), s.lse);
  const rules = rulesOf(call, a, s);
  const dq = call.output(a.q, s.q);
  const dk = call.output(a.q, s.k);
  const dv = call.output(a.q, s.v);
  const dSinks = a.sinks === undefined ? [] : [call.output(a.q, s.q.slice(1, 2))];
  const upstream = [o, lse, dO, dLse];
  const gradients = [dq, dk, dv, ...dSinks] as const;
  const args = [backend, options, rules, q, k, v, ...upstream, dq, dk, dv, dSinks[0] ?? 0];
  const [dqOut, dkOut, dvOut, dSinksOut] = call.run('attn_attention_backward', args, gradients);
  const found = { dq: dqOut, dk: dkOut, dv: dvOut };
  return dSinksOut === undefined ? found : { ...found, dSinks: dSinksOut };
}
