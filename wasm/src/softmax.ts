// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { backendName } from './backends.js';
import { argument, doubles, finite, floats, integer, tensor, type Names } from './check.js';
import type { WasmModule } from './module.js';
import { numbers, one, takeResult } from './result.js';
import type {
  FloatArray,
  JacobianProduct,
  Sensitivity,
  SoftmaxRowsArguments,
  SoftmaxRowsResult,
} from './types.js';

const rowsNames: Names<SoftmaxRowsArguments<FloatArray>> = {
  x: true,
  rows: true,
  columns: true,
  backend: true,
};

export function softmaxRows<A extends FloatArray>(
  module: WasmModule,
  a: SoftmaxRowsArguments<A>,
): SoftmaxRowsResult<A> {
  const rows = integer('rows', argument('softmaxRows', a, rowsNames).rows);
  const shape = [rows, integer('columns', a.columns)];
  const call = new Call(module);
  const backend = call.name(backendName(module, a.backend));
  const x = call.input(tensor('x', a.x, shape, 'rows x columns'), shape);
  const p = call.output(a.x, shape);
  const lse = call.output(a.x, [rows]);
  const [pOut, lseOut] = call.run('attn_softmax_rows', [backend, x, p, lse], [p, lse]);
  return { p: pOut, lse: lseOut };
}

export function softmaxJacobian<A extends FloatArray>(module: WasmModule, p: A): A {
  const n = floats('p', p).length;
  const call = new Call(module);
  const input = call.input(p, [n]);
  const jacobian = call.output(p, [n, n]);
  return call.run('attn_softmax_jacobian', [input, jacobian], [jacobian])[0];
}

export function softmaxJacobianProduct<A extends FloatArray>(module: WasmModule, p: A, g: A): A {
  const shape = [floats('p', p).length];
  const call = new Call(module);
  const pIn = call.input(p, shape);
  const gIn = call.input(tensor('g', g, shape, 'p.length', { name: 'p', value: p }), shape);
  const out = call.output(p, shape);
  return call.run('attn_softmax_jacobian_product', [pIn, gIn, out], [out])[0];
}

export function softmaxFiniteDifference<A extends FloatArray>(
  module: WasmModule,
  z: A,
  j: number,
  step: number,
): A {
  const shape = [floats('z', z).length];
  const call = new Call(module);
  const input = call.input(z, shape);
  const out = call.output(z, shape);
  const args = [input, BigInt(integer('j', j)), finite('step', step), out];
  return call.run('attn_softmax_finite_difference', args, [out])[0];
}

export function softmaxSensitivity(
  module: WasmModule,
  z: Float64Array,
  multiplier: number,
  step: number,
): Sensitivity {
  const call = new Call(module);
  const fields = takeResult(
    module,
    call.create('attn_softmax_sensitivity', [
      0,
      call.input(doubles('z', z), [z.length]),
      finite('multiplier', multiplier),
      finite('step', step),
    ]),
  );
  return {
    p: numbers(fields, 'p'),
    jacobian: numbers(fields, 'jacobian'),
    rowSums: numbers(fields, 'row_sums'),
    nudged: numbers(fields, 'nudged'),
    largestDifference: one(fields, 'largest_difference'),
    step: one(fields, 'step'),
  };
}

export function multiplyJacobian(
  module: WasmModule,
  p: Float64Array,
  g: Float64Array,
): JacobianProduct {
  const call = new Call(module);
  const fields = takeResult(
    module,
    call.create('attn_multiply_jacobian', [
      call.input(doubles('p', p), [p.length]),
      call.input(doubles('g', g), [g.length]),
    ]),
  );
  return {
    dot: one(fields, 'dot'),
    fast: numbers(fields, 'fast'),
    slow: numbers(fields, 'slow'),
    fastOperations: one(fields, 'fast_operations'),
    slowOperations: one(fields, 'slow_operations'),
  };
}
