// SPDX-License-Identifier: Apache-2.0
// Where a test file says what its tests are:
//
//   import assert from 'node:assert/strict';
//   import { test } from '../registry.mjs';
//   test('weights add up to one', async ({ page, mount }) => { ... });
//
// The function runs in Node and drives the page. Options: { full: true } leaves a slow test to --full,
// { limitMs } replaces the limit of 60 s.
let current;

export function test(name, options, body) {
  const [settings, run] = body ? [options, body] : [{}, options];
  if (!current) throw new Error(`test '${name}' is outside of a suite run (use run.mjs)`);
  if (typeof run !== 'function') throw new Error(`test '${name}' has no function`);
  current.tests.push({ file: current.file, name, run, ...settings });
}

/** Thrown by `skip(reason)`: the engine cannot do what the test needs. Counted, never silent. */
export class Skip extends Error {}

export function skip(reason) {
  throw new Skip(reason);
}

/** Imports test files and returns their tests: those registered and those exported as `tests`. */
export async function collect(files) {
  const tests = [];
  for (const { url, file } of files) {
    current = { tests, file };
    const before = tests.length;
    try {
      const module = await import(url);
      for (const { name, run, fn, ...settings } of module.tests ?? []) {
        test(name, settings, run ?? fn);
      }
    } finally {
      current = undefined;
    }
    if (tests.length === before) throw new Error(`${file} registers no test`);
  }
  return tests;
}
