// SPDX-License-Identifier: Apache-2.0
// Arguments: help, and one line with exit code 2 for what cannot be meant.
import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { cases, programs } from './program.mjs';

const good = join(cases, 'gqa_prefix_means.json');

for (const { name, attn } of programs) {
  describe(`arguments, ${name}`, () => {
    test('--help names every command, each command its options', () => {
      const { code, out, err } = attn('--help');
      assert.deepEqual([code, err], [0, '']);
      for (const command of ['report', 'eval', 'check', 'backends', 'digest', 'bench', 'serve']) {
        assert.match(out, new RegExp(`^  ${command} `, 'm'));
        const help = attn(command, '--help');
        assert.deepEqual([help.code, help.err], [0, '']);
        assert.match(help.out, new RegExp(`Usage: attn ${command} `));
      }
      assert.match(attn('check', '--help').out, /--backend NAME\|all .*--dtype TYPE/s);
      assert.match(attn('serve', '--help').out, /--port PORT .*--root DIR/s);
    });

    const toPrint = [['--help'], ['backends'], ['bench', '--list'], ['eval', good]];
    for (const args of toPrint) {
      test(`a full disk is an error: attn ${args[0]} ${args[1] === '--list' ? args[1] : ''}`, () => {
        const full = openSync('/dev/full', 'w');
        const { code, err } = attn.to(full, ...args);
        closeSync(full);
        assert.match(err, /^attn.*: .*(cannot be written|No space|I\/O error|no space)/i);
        assert.equal(code, 2);
      });
    }

    test('--version', () => {
      const { code, out } = attn('--version');
      assert.equal(code, 0);
      assert.match(out, /^\d+\.\d+\.\d+\n$/);
    });

    const refused = [
      [[], /^attn: A subcommand is required/],
      [['chek', good], /^attn: unknown command "chek", there are: report, eval, check/],
      [['check'], /^attn: case is required/],
      [['check', good, '--nothing'], /^attn: .*--nothing/],
      [['eval', good, good], /^attn: case: At Most 1 required but received 2/],
      [['check', good, '--dtype', 'f8'], /^attn: --dtype: f8 not in \{f32,f64,bf16,f16\}/],
      [['check', good, '--backend'], /^attn: --backend/],
      [
        ['check', good, '--backend', 'avx9'],
        /^attn: no backend "avx9"; this machine has: reference/,
      ],
      [['eval', good, '--backend', ''], /^attn: .*--backend: "" names no backend/],
      [['check', good, '--backend', ''], /^attn: .*--backend: "" names no backend/],
      [['eval', good, '--backend', 'all'], /^attn: no backend "all"; this machine has: reference/],
      [['check', good, '--backend', 'cuda'], /^attn: cuda: not part of this build$/m],
      [['eval', good, '--backend', 'cuda'], /^attn: cuda: not part of this build$/m],
      [['bench', '--list', '--json'], /^attn: --json excludes --list/],
      [['bench', '--op', 'backward', '--form', 'decode'], /^attn bench: form "decode": only op/],
      [
        ['bench', '--op', 'rms_norm', '--shape', '1x1x4:5x4'],
        /^attn bench: no row can be measured: rms_norm\/1x1x4:5x4.*: /,
      ],
      [['bench', '--seconds', '1e99'], /^attn: --seconds: 1e99 is above 3600/],
      [['report', '--backend', 'avx9'], /^attn: .*avx9/],
      [['serve', '--port', '65536'], /^attn: --port: Value 65536 not in range 0 to 65535/],
      ...['http', '1.5', ''].map((port) => [
        ['serve', '--port', port],
        new RegExp(`^attn: --port: "${port}" is not a whole number`),
      ]),
    ];
    for (const [args, message] of refused) {
      test(`refused: attn ${args.map((arg) => arg.replace(good, 'CASE')).join(' ')}`, () => {
        const { code, out, err } = attn(...args);
        assert.match(err, message);
        assert.equal(err.trimEnd().split('\n').length, 1);
        assert.deepEqual([code, out], [2, '']);
      });
    }

    test('backends: a table, and the same as JSON', () => {
      const { code, out, err } = attn('backends');
      assert.deepEqual([code, err], [0, '']);
      const json = JSON.parse(attn('backends', '--json').out);
      assert.equal(json.backends[0].name, 'reference');
      assert.equal(json.backends.filter((backend) => backend.default).length, 1);
      assert.ok(json.backends.some((b) => b.name.startsWith('highway:')));
      assert.ok(json.backends.some((b) => b.name.startsWith('xsimd:')));
      for (const backend of json.backends) {
        const { lanes, operations } = backend.dtypes.f32;
        assert.match(out, new RegExp(`^${backend.name} +f32 +${lanes}  ${operations[0]}`, 'm'));
        assert.ok(operations.includes('attention forward'));
      }
      for (const { name: absent, reason } of json.absent) {
        assert.ok(reason.length > 0);
        assert.match(out, new RegExp(`^${absent} +${reason}$`, 'm'));
      }
      assert.ok(json.absent.some((row) => row.name === 'cuda'));
    });
  });
}
