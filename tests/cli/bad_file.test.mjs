// SPDX-License-Identifier: Apache-2.0
// Files that are no case: exit code 2, one line on standard error that names the file and the
// value, nothing on standard output.
import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { describe, test } from 'node:test';

import { goodCase, programs, scratch } from './program.mjs';

const { write, folder } = scratch();

const withInputs = (inputs) => ({ ...goodCase(), inputs: { ...goodCase().inputs, ...inputs } });
const withParams = (params) => ({ ...goodCase(), params });
const without = (key) => {
  const file = goodCase();
  delete file[key];
  return file;
};
const view = (change) =>
  withInputs({
    K: { data: [0, 0, 0, 0], shape: [1, 1, 2, 2], strides: [4, 4, 2, 1], offset: 0, ...change },
  });
const wide = (shape) => view({ data: [0], shape, strides: [0, 0, 0, 0] });
const repeated = (rows) => ({ data: [0], shape: [1, 1, rows, 1], strides: [0, 0, 0, 0] });
const norm = (params) => ({ op: 'rms_norm', params, inputs: { X: [[3, 4]], W: [1, 2] } });
const rotary = (params, inputs = {}) => ({
  op: 'rotary_embedding',
  params,
  inputs: { X: [[[[1, 2]]]], cos: [[1]], sin: [[0]], ...inputs },
});
const text = (from, to) => JSON.stringify(goodCase()).replace(from, to);

// [content, message]: refused whatever is done with the file
const bad = [
  ['', 'line 1, column 1: syntax error'],
  ['{"op": "attention",\n "inputs": {"Q": [1,]}}', 'line 2, column 21: syntax error'],
  ['[1, 2]', 'holds a list, needed is an object'],
  [
    text('"causal"', '"causal"').replace('{}', '{"scale": 1, "scale": 2}'),
    'the key "scale" occurs twice in one object',
  ],
  [text('[2]', '[1e400]'), "number overflow parsing '1e400'"],
  [text('"good"', '"a\\nPASS b"'), 'name has a control character: "a\\nPASS b"'],
  [text('"good"', '""'), 'name is empty'],
  [text('"good"', '7'), 'name is 7, needed is a string'],
  [without('op'), 'has no op'],
  [without('inputs'), 'has no inputs'],
  [{ ...goodCase(), inputs: [] }, 'inputs is a list, needed is an object'],
  [{ ...goodCase(), params: 3 }, 'params is 3, needed is an object'],
  [{ ...goodCase(), inputs: { Q: [[[[1]]]], K: [[[[1]]]] } }, 'inputs has no V'],
  [withInputs({ Q: [[[1, 2]]] }), 'inputs.Q has rank 3 (shape [1,1,2]), needed is rank 4'],
  [withInputs({ Q: 1 }), 'inputs.Q has rank 0 (shape []), needed is rank 4'],
  [withInputs({ Q: [[[[[1]]]]] }), 'inputs.Q has rank 5'],
  [
    text('[[[[1,2]]]]', '['.repeat(50) + ']'.repeat(50)),
    'inputs.Q is nested more than 8 lists deep',
  ],
  [withInputs({ K: [[[[0, 0], [0]]]] }), 'inputs.K[0][0][1] has 1 elements, its siblings have 2'],
  [withInputs({ K: [[[[0, 0], 0]]] }), 'inputs.K[0][0][1] is 0, its siblings are lists'],
  [
    withInputs({
      K: [
        [
          [
            [0, 0],
            [0, [1]],
          ],
        ],
      ],
    }),
    'inputs.K[0][0][1][1] is a list, needed is a number',
  ],
  [
    withInputs({ V: [[[[2], ['x']]]] }),
    'inputs.V[0][0][1][0] is "x", needed is a number or "nan", "inf", "-inf"',
  ],
  [withInputs({ V: [[[[2], ['NaN']]]] }), 'inputs.V[0][0][1][0] is "NaN"'],
  [withInputs({ V: [[[[2], [null]]]] }), 'inputs.V[0][0][1][0] is null'],
  [
    withInputs({ V: [[[[2], [true]]]] }),
    'inputs.V[0][0][1][0] is true, the elements before it are numbers',
  ],
  [withInputs({ V: [[[[false], [true]]]] }), 'inputs.V holds booleans, needed are numbers'],
  [
    view({ offset: 1 }),
    'inputs.K: shape [1,1,2,2], strides [4,4,2,1], offset 1 reach element 4, data has 4 elements',
  ],
  [view({ strides: [4, 4, -2, 1] }), 'offset 0 reach element -2, data has 4 elements'],
  [view({ strides: [4, 4, 2 ** 62, 2 ** 62] }), 'reach beyond 64-bit indices'],
  [view({ shape: [1, 1, 2] }), 'inputs.K has shape [1,1,2] and strides [4,4,2,1]'],
  [view({ shape: [1, 1, -2, 2] }), 'inputs.K.shape holds -2'],
  [view({ shape: [1, 1, 1.5, 2] }), 'inputs.K.shape holds 1.5, needed are integers'],
  [view({ strides: 'dense' }), 'inputs.K.strides is "dense", needed is a list'],
  [view({ data: [[0], [0]] }), 'inputs.K.data[0] is a list, needed is a number'],
  [view({ data: 5 }), 'inputs.K.data is 5, needed is a list'],
  [view({ offset: '0' }), 'inputs.K.offset holds "0", needed are integers'],
  [view({ order: 'C' }), 'inputs.K has an unknown field "order"'],
  [withInputs({ K: { data: [0], shape: [1, 1, 1, 1] } }), 'inputs.K has no strides'],
  [withParams({ scale: '1' }), 'params.scale is "1", needed is a number'],
  [withParams({ scale: 'nan' }), 'params.scale is "nan", needed is a number'],
  [withParams({ causal: 1 }), 'params.causal is 1, needed is true or false'],
  [
    withParams({ align: 'left' }),
    'params.align is "left", needed is one of bottom_right, top_left',
  ],
  [withParams({ query_offset: 1.5 }), 'params.query_offset is 1.5, needed is a 64-bit integer'],
  [withParams({ query_offset: 1e19 }), 'params.query_offset is 1'],
  [withParams({ repeat: 0 }), 'params.repeat is 0, needed is 1 to 1000000'],
  [withParams({ repeat: 1e18 }), 'params.repeat is 1000000000000000000, needed is 1 to 1000000'],
  [withParams({ kv_tile: [] }), 'params.kv_tile is a list, needed is a list of positive integers'],
  [withParams({ threads: [2, 0] }), 'params.threads is 0, needed is positive integers'],
  [withInputs({ K: [[[[0, 0, 0]]]] }), 'K has width 3, Q has width 2'],
  [withInputs({ V: [[[[2]]]] }), 'V has length 1, K has length 2'],
  [
    withInputs({ Q: [[[[1, 2]], [[1, 2]], [[1, 2]]]], K: [[[[0, 0]], [[0, 0]]]] }),
    "Q has 3 heads, not a multiple of K's 2",
  ],
  [JSON.stringify(goodCase()) + '\0\0', 'has a NUL byte at byte '],
  [
    wide([1, 1, 2 ** 28, 2]),
    'inputs.K has shape [1,1,268435456,2], 536870912 elements, a tensor of a case has at most 268435456',
  ],
  [wide([0, 2 ** 30, 1, 2]), '2147483648 elements, a tensor of a case has at most 268435456'],
  [
    {
      ...goodCase(),
      inputs: { Q: repeated(2 ** 16), K: repeated(2 ** 17), V: repeated(2 ** 17) },
    },
    'B*Hq*Sq*Sk*(D+Dv), times the runs (1), is 17179869184, a case has at most 8589934592',
  ],
  [
    { ...goodCase(), params: { window: [-1, 0] } },
    'params.window is [-1,0], needed is [left, right]',
  ],
  [
    `{"op":"attention","params":{"scale":${'['.repeat(1e5)}${']'.repeat(1e5)}},"inputs":{}}`,
    'is nested more than 64 levels deep',
  ],
  [
    {
      op: 'merge_states',
      params: { repeat: 1000000 },
      inputs: {
        O_a: { data: [1], shape: [16384, 16384], strides: [0, 0] },
        LSE_a: { data: [0], shape: [16384], strides: [0] },
        O_b: { data: [1], shape: [16384, 16384], strides: [0, 0] },
        LSE_b: { data: [0], shape: [16384], strides: [0] },
      },
    },
    'rows*Dv, times the runs (1000000), is 268435456000000, a case has at most 8589934592',
  ],
  [norm({ axis: 2 }), 'params.axis is 2, X has 2 axes'],
  [norm({ axis: 0 }), 'inputs.W has shape [2], needed is [1,2]'],
  [norm({ eps: -1 }), 'eps is negative, needed is a finite number from 0'],
  [rotary({}), 'params has no rope_pairing, needed is interleaved or half'],
  [
    rotary({ rope_pairing: 'pairs' }),
    'params.rope_pairing is "pairs", needed is one of interleaved, half',
  ],
  [
    rotary({ rope_pairing: 'half', rotary_dim: 4 }),
    'params.rotary_dim is 4, inputs.cos has width 1, needed is half of it',
  ],
  [rotary({ rope_pairing: 'half' }, { positions: [[1]] }), 'positions[0][0] is 1, cos has 1 rows'],
  [
    rotary({ rope_pairing: 'half' }, { cos: [[[1], [1]]] }),
    'inputs.cos has shape [1,2,1], needed is a row for each',
  ],
  [withInputs({ dO: [[[[1, 1]]]] }), 'inputs.dO has shape [1,1,1,2], O has [1,1,1,1]'],
];

// Needed to check only.
const badToCheck = [
  [without('expected'), 'expected names no output'],
  [without('tolerance'), 'has no tolerance'],
  [{ ...goodCase(), expected: { O: [[[['3']]]] } }, 'expected.O[0][0][0][0] is "3"'],
  [{ ...goodCase(), tolerance: { f32: 1e-6 } }, 'tolerance.f32 is 1e-06, needed is {atol, rtol}'],
  [{ ...goodCase(), tolerance: { f32: {} } }, 'tolerance.f32 is empty'],
  [{ ...goodCase(), expected: { O: [[[[true]]]] } }, 'expected.O holds booleans'],
  [{ ...goodCase(), tolerance: { f32: { atol: -1 } } }, 'tolerance.f32.atol is -1'],
  [
    { ...goodCase(), tolerance: { bf16: { atol: 1 } } },
    'tolerance has neither f32, f64, property nor exact_value',
  ],
];

for (const { name, attn } of programs) {
  const refused = (command, content, message) => {
    const file = write(content);
    const { code, out, err } = attn(command, file, '--backend', 'reference');
    assert.ok(err.startsWith(`attn: ${file}: `), err);
    assert.ok(err.includes(message), `${err} lacks: ${message}`);
    assert.equal(err.trimEnd().split('\n').length, 1);
    assert.equal(out, command === 'check' ? '0 passed, 0 failed, 0 skipped\n' : '');
    assert.equal(code, 2);
  };

  describe(`bad case files, ${name}`, () => {
    for (const [content, message] of bad) {
      test(message, () => refused('eval', content, message));
    }
    for (const [content, message] of [...badToCheck, bad[0], bad.at(-1)]) {
      test(`check: ${message}`, () => refused('check', content, message));
    }

    test('a number that does not fit f32', () => {
      const file = write(withInputs({ V: [[[[2], [1e300]]]] }));
      const { code, out, err } = attn('eval', file, '--backend', 'reference', '--dtype', 'f32');
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, /inputs\.V holds 1e\+300, which does not fit f32\n$/);
      assert.equal(attn('eval', file, '--backend', 'reference').code, 0);
    });

    test('a file that is too large, and one without end', () => {
      const huge = write('');
      truncateSync(huge, 2 ** 28 + 1); // a hole: no disk is used
      for (const path of [huge, '/dev/full']) {
        const { code, out, err } = attn('check', path);
        assert.deepEqual([code, out], [2, '0 passed, 0 failed, 0 skipped\n']);
        assert.match(err, /: has more than 268435456 bytes, the most that are read\n$/);
      }
    });

    test('no such file, and a folder', () => {
      const absent = attn('eval', `${folder}/absent.json`);
      assert.match(absent.err, /absent\.json: cannot be opened: No such file or directory\n$/);
      assert.deepEqual([absent.code, absent.out], [2, '']);
      const directory = attn('eval', folder);
      assert.match(directory.err, /: cannot be (read|opened): Is a directory\n$/);
      assert.deepEqual([directory.code, directory.out], [2, '']);
    });
  });
}
