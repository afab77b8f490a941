// SPDX-License-Identifier: Apache-2.0
import { Call, i64 } from './call.js';
import {
  argument,
  choice,
  finite,
  floats,
  integer,
  integers,
  options as checked,
  tensor,
  type Names,
} from './check.js';
import { invalid } from './errors.js';
import type { WasmModule } from './module.js';
import type {
  ArrayOf,
  Dtype,
  FloatArray,
  RotaryArguments,
  RotaryBackwardArguments,
  RotaryOptions,
  RotaryShape,
  RotaryTables,
  RotaryTablesArguments,
} from './types.js';

const pairings = ['interleaved', 'half'] as const;
const dtypes = ['f32', 'f64'] as const;

const shapeNames: Names<RotaryShape> = {
  batch: true,
  heads: true,
  tokens: true,
  width: true,
  rotaryWidth: true,
};
const optionNames: Names<RotaryOptions<FloatArray>> = {
  cos: true,
  sin: true,
  pairing: true,
  positions: true,
  shape: true,
};
const forwardNames: Names<RotaryArguments<FloatArray>> = { x: true, ...optionNames };
const backwardNames: Names<RotaryBackwardArguments<FloatArray>> = { dY: true, ...optionNames };
const tableNames: Names<RotaryTablesArguments<Dtype>> = {
  rows: true,
  rotaryWidth: true,
  base: true,
  dtype: true,
};

function even(name: string, value: unknown): number {
  const width = integer(name, value, 2);
  if (width % 2 === 0) return width;
  throw invalid(`${name} is ${width}, needed is an even number: channels turn in pairs`);
}

// Both directions: `name` is what the array is called.
function turn<A extends FloatArray>(
  module: WasmModule,
  entry: string,
  name: string,
  value: A,
  a: RotaryOptions<A>,
): A {
  const s = checked('shape', a.shape, shapeNames);
  const batch = integer('shape.batch', s.batch === undefined ? 1 : s.batch);
  const heads = integer('shape.heads', s.heads === undefined ? 1 : s.heads);
  const tokens = integer('shape.tokens', s.tokens);
  const width = integer('shape.width', s.width, 1);
  const rotaryWidth = even(
    'shape.rotaryWidth',
    s.rotaryWidth === undefined ? width : s.rotaryWidth,
  );
  const pairing = choice('pairing', a.pairing, pairings);
  const shape = [batch, heads, tokens, width];
  const like = { name, value };
  const call = new Call(module);
  const input = call.input(tensor(name, value, shape, 'batch x heads x tokens x width'), shape);
  // How many rows there are the tables say.
  const pairs = rotaryWidth / 2;
  const table = [Math.floor(floats('cos', a.cos).length / pairs), pairs];
  const tableAxes = 'rows x rotaryWidth / 2';
  const cos = call.input(tensor('cos', a.cos, table, tableAxes, like), table);
  const sin = call.input(tensor('sin', a.sin, table, tableAxes, like), table);
  const rows = [batch, tokens];
  const positions =
    a.positions === undefined
      ? 0
      : call.input(integers('positions', a.positions, rows, 'batch x tokens'), rows, i64);
  const output = call.output(value, shape);
  return call.run(entry, [pairing, input, cos, sin, positions, output], [output])[0];
}

export function rotaryEmbedding<A extends FloatArray>(
  module: WasmModule,
  a: RotaryArguments<A>,
): A {
  argument('rotaryEmbedding', a, forwardNames);
  return turn(module, 'attn_rotary_embedding', 'x', a.x, a);
}

export function rotaryEmbeddingBackward<A extends FloatArray>(
  module: WasmModule,
  a: RotaryBackwardArguments<A>,
): A {
  argument('rotaryEmbeddingBackward', a, backwardNames);
  return turn(module, 'attn_rotary_embedding_backward', 'dY', a.dY, a);
}

export function rotaryTables<D extends Dtype = 'f32'>(
  module: WasmModule,
  a: RotaryTablesArguments<D>,
): RotaryTables<ArrayOf<D>> {
  const { dtype = 'f32', base = 10000 } = argument('rotaryTables', a, tableNames);
  const shape = [integer('rows', a.rows), even('rotaryWidth', a.rotaryWidth) / 2];
  const type = choice('dtype', dtype, dtypes) === 0 ? Float32Array : Float64Array;
  const like = new type() as ArrayOf<D>;
  const call = new Call(module);
  const cos = call.output(like, shape);
  const sin = call.output(like, shape);
  const args = [finite('base', base), cos, sin];
  const [cosOut, sinOut] = call.run('attn_rotary_tables', args, [cos, sin]);
  return { cos: cosOut, sin: sinOut };
}
