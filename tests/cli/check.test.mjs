// SPDX-License-Identifier: Apache-2.0
// attn check: verdicts, their lines, totals and exit codes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { cases, goodCase, programs, scratch } from './program.mjs';

const { write, folder } = scratch();
const jsonIn = (path) =>
  readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(path, name));
const lines = (text) => text.trimEnd().split('\n');

for (const { name, attn, command } of programs) {
  describe(`attn check, ${name}`, () => {
    const { backends } = JSON.parse(attn('backends', '--json').out);

    test('our cases pass on the reference, in f64 and in f32', () => {
      const files = jsonIn(cases);
      assert.ok(files.length >= 10);
      for (const dtype of [[], ['--dtype', 'f32']]) {
        const { code, out } = attn('check', ...files, '--backend', 'reference', ...dtype);
        assert.equal(code, 0, out);
        assert.equal(lines(out).at(-1), `${files.length} passed, 0 failed, 0 skipped`);
      }
    });

    test('--backend all is every backend; what a table lacks is skipped and said', () => {
      const files = jsonIn(cases);
      const ofGradients = files.filter((file) => {
        const { expected } = JSON.parse(readFileSync(file, 'utf8'));
        return Object.keys(expected).some((output) => output.startsWith('d'));
      });
      const { code, out } = attn('check', ...files, '--backend', 'all');
      assert.equal(code, 0, out);
      const verdicts = lines(out).slice(0, -1);
      assert.equal(verdicts.length, files.length * backends.length);
      for (const backend of backends) {
        const { operations } = backend.dtypes.f32;
        const backward = operations.includes('attention backward');
        const own = verdicts.filter((line) => line.split(' ')[2] === backend.name);
        const skipped = own.filter((line) => line.startsWith('SKIP '));
        assert.equal(own.length, files.length);
        assert.equal(skipped.length, backward ? 0 : ofGradients.length, backend.name);
        for (const line of skipped) assert.match(line, / no attention backward of f32$/);
        for (const line of own.filter((l) => !skipped.includes(l))) {
          assert.match(line, /^PASS [a-z_]+ \S+$/);
        }
      }
    });

    test('without --backend, the fastest that has what the case needs', () => {
      const fastest = backends.find((backend) => backend.default);
      const { out } = attn('check', join(cases, 'gqa_prefix_means.json'));
      assert.equal(lines(out)[0], `PASS gqa_prefix_means ${fastest.name}`);
      const backward = fastest.dtypes.f32.operations.includes('attention backward');
      const chosen = backward ? fastest.name : 'reference';
      const { out: second } = attn('check', join(cases, 'loss_of_lse_alone.json'));
      assert.equal(lines(second)[0], `PASS loss_of_lse_alone ${chosen}`);
    });

    if (name === 'native' && process.platform === 'linux') {
      test('a case that memory has no room for is named, and the others go on', () => {
        const huge = goodCase();
        huge.inputs.Q = { data: [1, 2], shape: [1, 1, 1e8, 2], strides: [0, 0, 0, 1] };
        const files = [write(huge, 'huge.json'), join(cases, 'gqa_prefix_means.json')];
        const limited = 'ulimit -v 1500000; "$@"';
        const { status, stdout, stderr } = spawnSync(
          'bash',
          ['-c', limited, 'bash', ...command, 'check', ...files],
          { encoding: 'utf8' },
        );
        assert.equal(status, 2);
        assert.match(stderr, /huge\.json: .*(out of memory|bytes|elements)/);
        assert.match(stdout, /^PASS gqa_prefix_means \S+\n1 passed, 0 failed, 0 skipped\n$/);
      });
    }

    const wrong = {
      one_value_is_wrong:
        'O max_abs=0.5 at [0,0,1,1]: got 6, expected 6.5 (1 of 4 outside atol 1e-06 rtol 1e-06)',
      infinity_has_the_wrong_sign:
        'LSE max_abs=inf at [0,0,0]: got -inf, expected inf (1 of 2 outside atol 1e+300 rtol 1e+300)',
      a_number_where_nan_belongs:
        'O max_abs=inf at [0,0,0,0]: got nan, expected 2 (1 of 1 outside atol 1e+300 rtol 0)',
      shape_of_o_is_wrong: 'O has shape [1,1,2,2], expected is [1,1,1,2]',
    };
    for (const [file, message] of Object.entries(wrong)) {
      test(`fails: ${file}`, () => {
        const { code, out, err } = attn(
          'check',
          join(cases, 'wrong', `${file}.json`),
          '--backend',
          'all',
        );
        assert.equal(code, 1);
        assert.equal(err, '');
        const expected = backends.map((backend) => `FAIL ${file} ${backend.name} ${message}`);
        assert.deepEqual(lines(out), [
          ...expected,
          `0 passed, ${backends.length} failed, 0 skipped`,
        ]);
      });
    }

    test('a wrong gradient and a wrong output are both named', () => {
      const file = write({
        ...goodCase(),
        inputs: { ...goodCase().inputs, dO: [[[[1]]]] },
        expected: { O: [[[[3.5]]]], dV: [[[[0.5], [0.25]]]] },
      });
      const { code, out } = attn('check', file, '--backend', 'reference');
      assert.equal(code, 1);
      assert.match(
        out,
        /^FAIL good reference O max_abs=0\.5 at \[0,0,0,0\].*; dV max_abs=0\.25 at \[0,0,1,0\]/,
      );
    });

    // [what is put into the good case, the end of the FAIL line]
    const unsupported = [
      [{ op: 'mla_decode' }, 'op mla_decode is not supported yet'],
      [
        { op: 'soft_search' },
        'unknown op "soft_search", there are: attention, merge_states, rms_norm, rotary_embedding',
      ],
      [
        { inputs: { Qq: [[[[1]]]] } },
        'attention has no input "Qq", it has Q, K, V, mask_keep, mask_add, sinks, kv_lens, page_table, cu_seqlens_q, cu_seqlens_k, dO, dLSE',
      ],
      [
        { params: { Scale: 1 } },
        'attention has no param "Scale", it has scale, causal, align, query_offset, window, softcap, page_size',
      ],
      [{ expected: { Y: [1] } }, 'attention has no output "Y", it has O, LSE, dQ, dK, dV, dSinks'],
      [
        { inputs: { dO: [[[[1]]]] }, expected: { dSinks: [1] } },
        'expected.dSinks needs the input sinks',
      ],
      [{ expected: { dQ: [[[[0, 0]]]] } }, 'expected.dQ needs one of the inputs dO, dLSE'],
      [{ note: 'hm' }, 'unknown field note'],
      [{ tolerance: { tf32: { atol: 1 } } }, 'unknown field tolerance.tf32'],
      [{ tolerance: { f32: { abs: 1 } } }, 'unknown field tolerance.f32.abs'],
    ];
    for (const [change, message] of unsupported) {
      test(`fails and is never ignored: ${message}`, () => {
        const good = goodCase();
        const file = { ...good };
        for (const [key, value] of Object.entries(change)) {
          file[key] = typeof value === 'string' ? value : { ...good[key], ...value };
        }
        const { code, out, err } = attn('check', write(file), '--backend', 'reference');
        assert.equal(out, `FAIL good reference ${message}\n0 passed, 1 failed, 0 skipped\n`);
        assert.equal(err, '');
        assert.equal(code, 1);
      });
    }

    test('lists without meaning for a backend: one run, and it says so', () => {
      const { code, out, err } = attn(
        'check',
        join(cases, 'same_bits_every_time.json'),
        '--backend',
        'reference',
      );
      assert.equal(code, 0);
      assert.equal(lines(out)[0], 'PASS same_bits_every_time reference');
      assert.equal(
        err,
        // Node has one thread.
        `note: same_bits_every_time reference: kv_tile${name === 'Node' ? ', threads' : ''} without meaning here, one run stands for every value\n`,
      );
    });

    test('kv_splits and threads: each value is a run of its own', () => {
      const paged = JSON.parse(readFileSync(join(cases, 'cache_in_pages.json'), 'utf8'));
      const file = write({ ...paged, params: { ...paged.params, kv_splits: [1, 5] } });
      assert.equal(attn('check', file).code, 0);
      const off = { ...paged, expected: { O: [[[[3.5]], [[3]]]] } };
      const { out } = attn('check', write({ ...off, params: { kv_splits: [2, 5] } }));
      assert.match(out, /\(kv_splits 2\).*\(kv_splits 5\)/);
      const many = attn('check', write({ ...paged, params: { threads: [1025] } }));
      assert.match(many.err, /params.threads is 1025, needed is 1 to 1024/);
      assert.equal(many.code, 2);
    });

    test('page_size, where it is given, is the size of the pages', () => {
      const paged = JSON.parse(readFileSync(join(cases, 'cache_in_pages.json'), 'utf8'));
      const wrong = attn('check', write({ ...paged, params: { page_size: 3 } }));
      assert.match(wrong.err, /params.page_size is 3, K has pages of 2/);
      const none = attn('check', write({ ...goodCase(), params: { page_size: 3 } }));
      assert.match(none.err, /params.page_size is 3, there is no page_table/);
    });

    test('f64 is held to its own tolerance, else to that of f32', () => {
      const off = { ...goodCase(), expected: { O: [[[[3 + 1e-9]]]] } };
      const run = (tolerance) =>
        attn('check', write({ ...off, tolerance }), '--backend', 'reference', '--dtype', 'f64')
          .code;
      const f32 = { atol: 1e-6, rtol: 0 };
      assert.equal(run({ f32 }), 0);
      assert.equal(run({ f32, f64: { atol: 1e-12, rtol: 0 } }), 1);
      assert.equal(run({ f32: { atol: 1e-12 }, f64: { atol: 1e-6 } }), 0);
    });

    test('a tolerance without numbers: the bits of every run, shapes and non-finite places', () => {
      for (const tolerance of [{ property: 'the same bits' }, { exact_value: 3 }]) {
        const run = (expected) => {
          const file = write({ ...goodCase(), expected: { O: expected }, tolerance });
          return attn('check', file, '--backend', 'reference');
        };
        assert.equal(run([[[[3]]]]).out, 'PASS good reference\n1 passed, 0 failed, 0 skipped\n');
        assert.equal(run([[[[5]]]]).code, 0);
        assert.equal(run([[[[3, 3]]]]).code, 1);
        assert.equal(run([[[['nan']]]]).code, 1);
      }
    });

    test('an unreadable file is told on standard error, the others are checked', () => {
      const good = write(goodCase());
      const broken = write('{"op": ');
      const absent = join(folder, 'absent.json');
      const { code, out, err } = attn('check', broken, good, absent, '--backend', 'reference');
      assert.equal(code, 2);
      assert.equal(out, 'PASS good reference\n1 passed, 0 failed, 0 skipped\n');
      assert.equal(lines(err).length, 2);
      assert.match(err, new RegExp(`^attn: ${broken}: .*line 1, column 8`));
      assert.match(err, new RegExp(`attn: ${absent}: cannot be opened: No such file`));
    });
  });
}
