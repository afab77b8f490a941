// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { argument, integer, options as checked, tensor, type Names } from './check.js';
import type { WasmModule } from './module.js';
import type { AttentionForwardResult, FloatArray, MergeStatesArguments } from './types.js';

const names: Names<MergeStatesArguments<FloatArray>> = {
  a: true,
  b: true,
  rows: true,
  valueWidth: true,
};
const stateNames: Names<AttentionForwardResult<FloatArray>> = { o: true, lse: true };

export function mergeStates<A extends FloatArray>(
  module: WasmModule,
  arg: MergeStatesArguments<A>,
): AttentionForwardResult<A> {
  const rows = integer('rows', argument('mergeStates', arg, names).rows);
  const shape = [rows, integer('valueWidth', arg.valueWidth)];
  const a = checked('a', arg.a, stateNames);
  const b = checked('b', arg.b, stateNames);
  const like = { name: 'a.o', value: a.o };
  const call = new Call(module);
  const args = [
    call.input(tensor('a.o', a.o, shape, 'rows x valueWidth'), shape),
    call.input(tensor('a.lse', a.lse, [rows], 'rows', like), [rows]),
    call.input(tensor('b.o', b.o, shape, 'rows x valueWidth', like), shape),
    call.input(tensor('b.lse', b.lse, [rows], 'rows', like), [rows]),
  ];
  const o = call.output(a.o, shape);
  const lse = call.output(a.o, [rows]);
  const [oOut, lseOut] = call.run('attn_merge_states', [...args, o, lse], [o, lse]);
  return { o: oOut, lse: lseOut };
}
