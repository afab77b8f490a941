// SPDX-License-Identifier: Apache-2.0
// Runs the command line program, native and under Node, as a person would.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const cases = join(root, 'tests', 'cases');

const native = process.env.ATTN_BIN ?? join(root, 'build', 'bin', 'attn');
const module = process.env.ATTN_MJS ?? join(root, 'build', 'bin', 'attn.mjs');
for (const [file, variable] of [
  [native, 'ATTN_BIN'],
  [module, 'ATTN_MJS'],
]) {
  if (!existsSync(file)) throw new Error(`${file} is not built (${variable} names another one)`);
}

function runner(command, ...first) {
  const run = (...args) => runTo('pipe', ...args);
  const runTo = (stdout, ...args) => {
    const result = spawnSync(command, [...first, ...args], {
      stdio: ['ignore', stdout, 'pipe'],
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      timeout: 120_000,
    });
    if (result.error) throw result.error;
    return { code: result.status, signal: result.signal, out: result.stdout, err: result.stderr };
  };
  return Object.assign(run, { to: runTo }); // attn.to(file descriptor, ...args)
}

// Every test of this folder runs with each.
export const programs = [
  { name: 'native', command: [native], attn: runner(native) },
  { name: 'Node', command: [process.execPath, module], attn: runner(process.execPath, module) },
];

// A folder of the test file's own, with a function that writes a case into it.
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'attn-cli-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  const write = (content, name = `case${count++}.json`) => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  return { folder, write };
}

// A case that passes: one query, two keys of zero, the mean of their values.
export function goodCase() {
  return {
    name: 'good',
    op: 'attention',
    params: {},
    inputs: {
      Q: [[[[1, 2]]]],
      K: [
        [
          [
            [0, 0],
            [0, 0],
          ],
        ],
      ],
      V: [[[[2], [4]]]],
    },
    expected: { O: [[[[3]]]] },
    tolerance: { f32: { atol: 1e-6, rtol: 1e-6 } },
  };
}
