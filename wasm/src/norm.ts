// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { argument, finite, integer, tensor, type Names } from './check.js';
import type { WasmModule } from './module.js';
import type {
  FloatArray,
  RmsNormArguments,
  RmsNormBackwardArguments,
  RmsNormGradients,
} from './types.js';

const names: Names<RmsNormArguments<FloatArray>> = {
  x: true,
  w: true,
  eps: true,
  rows: true,
  width: true,
};
const backwardNames: Names<RmsNormBackwardArguments<FloatArray>> = { ...names, dY: true };

const axes = 'rows x width';

// The library takes four axes.
function inputs<A extends FloatArray>(call: Call, a: RmsNormArguments<A>) {
  const shape = [1, 1, integer('rows', a.rows), integer('width', a.width)];
  const wShape = shape.slice(3);
  const like = { name: 'x', value: a.x };
  const x = call.input(tensor('x', a.x, shape.slice(2), axes), shape);
  const w = call.input(tensor('w', a.w, wShape, 'width', like), wShape);
  return { shape, wShape, like, args: [x, w, finite('eps', a.eps)] };
}

export function rmsNorm<A extends FloatArray>(module: WasmModule, a: RmsNormArguments<A>): A {
  argument('rmsNorm', a, names);
  const call = new Call(module);
  const { shape, args } = inputs(call, a);
  const y = call.output(a.x, shape);
  return call.run('attn_rms_norm', [...args, y], [y])[0];
}

export function rmsNormBackward<A extends FloatArray>(
  module: WasmModule,
  a: RmsNormBackwardArguments<A>,
): RmsNormGradients<A> {
  argument('rmsNormBackward', a, backwardNames);
  const call = new Call(module);
  const { shape, wShape, like, args } = inputs(call, a);
  const dY = call.input(tensor('dY', a.dY, shape.slice(2), axes, like), shape);
  const dx = call.output(a.x, shape);
  const dw = call.output(a.x, wShape);
  const [dxOut, dwOut] = call.run('attn_rms_norm_backward', [...args, dY, dx, dw], [dx, dw]);
  return { dx: dxOut, dw: dwOut };
}
