// SPDX-License-Identifier: Apache-2.0
// attn eval: what it prints, its digits, its exit codes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { cases, goodCase, programs, scratch } from './program.mjs';

const { write } = scratch();

// The mean and log-sum-exp of zero keys, in doubles.
const third = {
  ...goodCase(),
  inputs: { Q: [[[[1]]]], K: [[[[0], [0], [0]]]], V: [[[[1], [0], [0]]]] },
};

for (const { name, attn } of programs) {
  describe(`attn eval, ${name}`, () => {
    test('fields, in order, and every output that the inputs ask for', () => {
      const { code, out, err } = attn(
        'eval',
        join(cases, 'loss_of_lse_alone.json'),
        '--backend',
        'reference',
      );
      assert.deepEqual([code, err], [0, '']);
      assert.equal(out.split('\n').length, 2);
      const result = JSON.parse(out);
      assert.deepEqual(Object.keys(result), [
        'name',
        'op',
        'backend',
        'dtype',
        'outputs',
        'seconds',
      ]);
      assert.deepEqual(
        [result.name, result.op, result.backend, result.dtype],
        ['loss_of_lse_alone', 'attention', 'reference', 'f64'],
      );
      assert.deepEqual(result.outputs, {
        O: [[[[8]]]],
        LSE: [[[Math.log(2)]]],
        dQ: [[[[4]]]],
        dK: [[[[0], [0]]]],
        dV: [[[[0], [0]]]],
      });
      assert.ok(result.seconds > 0 && result.seconds < 1);
    });

    test('f64 reads back as the same double, f32 with the fewest digits that do', () => {
      const file = write(third);
      const f64 = attn('eval', file, '--backend', 'reference').out;
      assert.ok(f64.includes('"O": [[[[0.3333333333333333]]]]'), f64);
      const f32 = attn('eval', file, '--backend', 'reference', '--dtype', 'f32').out;
      assert.ok(f32.includes('"O": [[[[0.33333334]]]]'), f32);
      const { outputs } = JSON.parse(f32);
      assert.equal(Math.fround(outputs.O[0][0][0][0]), Math.fround(1 / 3));
      assert.equal(Math.fround(outputs.LSE[0][0][0]), Math.fround(Math.log(3)));
    });

    test('non-finite numbers are strings', () => {
      const { out } = attn(
        'eval',
        join(cases, 'rows_before_the_first_key.json'),
        '--backend',
        'reference',
      );
      assert.deepEqual(JSON.parse(out).outputs.LSE, [[['-inf', 0, Math.log(2)]]]);
      const nan = attn(
        'eval',
        join(cases, 'nan_behind_the_mask.json'),
        '--backend',
        'reference',
      ).out;
      assert.deepEqual(JSON.parse(nan).outputs.O, [[[[2], [3], ['nan']]]]);
    });

    test('tensors without elements keep their lists', () => {
      const { out } = attn('eval', join(cases, 'no_queries.json'), '--backend', 'reference');
      assert.deepEqual(JSON.parse(out).outputs, { O: [[[]]], LSE: [[[]]] });
    });

    test("expected and tolerance are not needed; a name is the file's", () => {
      const { op, inputs } = goodCase();
      const { code, out } = attn('eval', write({ op, inputs }, 'nameless.json'));
      assert.equal(code, 0);
      assert.equal(JSON.parse(out).name, 'nameless');
    });

    test('a large output is complete through a pipe', () => {
      const rows = Array.from({ length: 1000 }, (_, i) =>
        Array.from({ length: 16 }, (_, j) => Math.sin(16 * i + j)),
      );
      const zeros = rows.slice(0, 1).map((row) => row.map(() => 0));
      const { code, out } = attn(
        'eval',
        write({ op: 'attention', inputs: { Q: [[rows]], K: [[zeros]], V: [[rows.slice(0, 1)]] } }),
        '--backend',
        'reference',
      );
      assert.equal(code, 0);
      assert.ok(out.length > 300_000);
      const { O } = JSON.parse(out).outputs;
      assert.deepEqual(O, [[rows.map(() => rows[0])]]);
    });

    test('the dtype: f64 for the reference, f32 for the others, or what is asked for', () => {
      const file = write(goodCase());
      const dtype = (...args) => JSON.parse(attn('eval', file, ...args).out).dtype;
      assert.equal(dtype('--backend', 'reference'), 'f64');
      assert.equal(dtype('--backend', 'reference', '--dtype', 'f32'), 'f32');
      const { backends } = JSON.parse(attn('backends', '--json').out);
      assert.ok(backends.length > 1);
      for (const { name: backend, dtypes } of backends.slice(1)) {
        assert.equal(dtype('--backend', backend), 'f32');
        if (dtypes.f64) assert.equal(dtype('--backend', backend, '--dtype', 'f64'), 'f64');
      }
    });

    test('what this program or backend cannot compute: exit code 1, nothing printed', () => {
      const file = write({ ...goodCase(), op: 'ssd' });
      const { code, out, err } = attn('eval', file);
      assert.deepEqual([code, out, err], [1, '', `attn: ${file}: op ssd is not supported yet\n`]);
      const { backends } = JSON.parse(attn('backends', '--json').out);
      for (const backend of backends) {
        const { operations } = backend.dtypes.f32;
        const result = attn(
          'eval',
          join(cases, 'loss_of_lse_alone.json'),
          '--backend',
          backend.name,
          '--dtype',
          'f32',
        );
        if (operations.includes('attention backward')) {
          assert.equal(result.code, 0);
        } else {
          assert.deepEqual([result.code, result.out], [1, '']);
          assert.ok(
            result.err.endsWith(`: ${backend.name} has no attention backward of f32\n`),
            result.err,
          );
        }
      }
    });
  });
}
