// SPDX-License-Identifier: Apache-2.0
// Runs what wasm/attn_c_test.c found out: attn.h compiled as C11 and linked to the shared library.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const build =
  process.env.ATTN_NATIVE_BUILD ?? fileURLToPath(new URL('../../build/release', import.meta.url));

test('the C interface from C', () => {
  const program = `${build}/wasm/attn_c_test`;
  assert.ok(
    existsSync(program),
    `${program} is missing: cmake --preset release && cmake --build --preset release`,
  );
  const output = execFileSync(program, { encoding: 'utf8' });
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(output) ?? [];
  assert.equal(failed, '0', output);
  assert.ok(Number(passed) > 300, output);
});

test('the C interface from Python, by ctypes', (t) => {
  const example = fileURLToPath(new URL('../../wasm/attn_ctypes.py', import.meta.url));
  const library = `${build}/wasm/libattn_c.so`;
  let output;
  try {
    output = execFileSync('python3', [example, library], { encoding: 'utf8' });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    t.skip('there is no python3');
    return;
  }
  assert.deepEqual(output.trimEnd().split('\n'), [
    'o of token 3:  0.665 0.180 0.665 0.734',
    'dq of token 3: 0.011 0.081 -0.081 -0.011',
    'dv of token 1: 1.934 1.934 1.934 1.934',
    'masked:        0.881 0.238 0.881 0.000',
    'from pages:    0.665 0.180 0.665 0.734',
    'refused:       K has width 5, Q has width 4',
  ]);
});
