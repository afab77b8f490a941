// SPDX-License-Identifier: Apache-2.0
// The test run must not call a suite green that crashed, hung, ran nothing or contradicts itself.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { doctest, failedLines, plain, tap } from './count.mjs';
import { counted } from './counted.mjs';

const node = (code, count = plain, options = {}) =>
  counted(count, process.execPath, ['-e', code], options);

test('a suite that says how many passed is counted', async () => {
  const result = await node(`console.log('x\\n3 passed, 0 failed, 2 skipped')`);
  assert.deepEqual([result.passed, result.failed, result.skipped], [3, 0, 2]);
});

test('failures are counted once, not again for the exit code', async () => {
  const result = await node(`console.log('3 passed, 2 failed'); process.exit(1)`);
  assert.deepEqual([result.passed, result.failed], [3, 2]);
});

test('an exit code that contradicts the count is a failure', async () => {
  const result = await node(`console.log('3 passed, 0 failed'); process.exit(3)`);
  assert.equal(result.failed, 1);
  assert.match(result.output, /exit code 3/);
});

test('a suite that ran nothing is a failure', async () => {
  assert.equal((await node(`console.log('0 passed, 0 failed')`)).failed, 1);
  assert.equal((await node(`console.log('fine')`)).failed, 1);
});

test('a crash is a failure', async () => {
  const result = await node(`process.kill(process.pid, 'SIGSEGV'); setTimeout(() => {}, 9999)`);
  assert.equal(result.failed, 1);
  assert.match(result.output, /ended by SIGSEGV/);
});

test('a suite that does not end is stopped, and what it started with it', async () => {
  const code = `
    const { spawn } = require('node:child_process');
    console.log('child', spawn('sleep', ['60']).pid);
    setTimeout(() => {}, 60000);`;
  const result = await node(code, plain, { timeout: 6 });
  assert.equal(result.failed, 1);
  assert.match(result.output, /stopped after 6 s/);
  const child = /child (\d+)/.exec(result.output)[1];
  await new Promise((resolve) => setTimeout(resolve, 200));
  // Gone, or a zombie that nobody has waited for.
  const status =
    existsSync(`/proc/${child}/status`) && readFileSync(`/proc/${child}/status`, 'utf8');
  if (status) assert.match(status, /^State:\s+Z/m);
});

test('a program that is not there is a failure', async () => {
  const result = await counted(plain, 'no-such-program', []);
  assert.equal(result.failed, 1);
  assert.match(result.output, /could not be started/);
});

test('output without a count counts nothing', () => {
  for (const count of [doctest, plain, tap]) assert.equal(count('all fine\n') ?? null, null);
  assert.equal(plain('suite: 3 passed, 0 failed in all') ?? null, null);
});

test("doctest's and Node's closing lines", () => {
  const lines =
    '[doctest] test cases:  12 |  10 passed | 2 failed | 1 skipped\n[doctest] Status: FAILURE!';
  assert.deepEqual(doctest(lines), { passed: 10, failed: 2, skipped: 1 });
  const closing =
    '# tests 9\n# suites 0\n# pass 5\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 1\n';
  assert.deepEqual(tap(closing), { passed: 5, failed: 2, skipped: 2 });
});

test("the lines that name a failure and why, in each runner's words", () => {
  const output = [
    '  ok   a (1 ms)',
    '  FAIL elements/b.test.mjs: b (2 ms)',
    '      Error: at 320 px',
    'not ok 3 - c',
    'd_test.cc:4: ERROR: CHECK( x ) is NOT correct!',
    'FAILURE is no such word',
  ].join('\n');
  assert.deepEqual(failedLines(output), output.split('\n').slice(1, 5));
  assert.deepEqual(failedLines('stopped after 6 s\n'), ['stopped after 6 s']);
});
