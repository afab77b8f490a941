// SPDX-License-Identifier: Apache-2.0
// make test: builds and runs every suite.
//   node tools/test.mjs [--only NAME[,NAME...]] [--list]      ATTN_FULL=1: everything, long fuzzing
// A suite that does not build, crashes, runs out of time or runs no case counts as failed. The last
// line is `N passed, N failed[, N skipped]`; exit code 0 where nothing failed, 2 for a wrong option.
import { parseArgs } from 'node:util';

import { build } from './test/builds.mjs';
import { failedLines } from './test/count.mjs';
import { suites } from './test/suites.mjs';

function chosen() {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, list: { type: 'boolean', default: false } },
  });
  if (values.list) {
    for (const suite of suites) console.log(suite.name);
    process.exit(0);
  }
  if (values.only === undefined) return suites;
  const names = values.only.split(',');
  for (const name of names) {
    if (suites.some((suite) => suite.name === name)) continue;
    const known = suites.map((suite) => suite.name).join(', ');
    throw new Error(`--only ${name}: no such suite; there are ${known}`);
  }
  return suites.filter((suite) => names.includes(suite.name));
}

// Indented, so that no line of a suite's own output can be taken for the closing line.
function show(output) {
  for (const line of output.trimEnd().split('\n')) console.log(`    | ${line}`);
}

async function runSuite(suite) {
  for (const need of suite.needs) {
    const { ok, output, title } = await build(need);
    if (!ok)
      return { passed: 0, failed: 1, skipped: 0, output: `build ${title} failed\n${output}` };
  }
  try {
    const result = await suite.run();
    if (result.passed + result.failed > 0) return result;
    if (result.skipped > 0) return { ...result, nothingRan: true };
    return { ...result, failed: 1, output: `${result.output}\nno case ran\n` };
  } catch (error) {
    return { passed: 0, failed: 1, skipped: 0, output: error.stack };
  }
}

let list;
try {
  list = chosen();
} catch (error) {
  console.error(`tools/test.mjs: ${error.message}`);
  process.exit(2);
}
const failures = [];
const total = { passed: 0, failed: 0, skipped: 0 };
const began = performance.now();
// Builds go ahead of the suites, so that a suite of one thread leaves no core idle.
for (const need of list.flatMap((suite) => suite.needs)) build(need);
// Builds print lines of their own; a suite's time is that of its cases.
async function timed(suite) {
  await Promise.all(suite.needs.map(build));
  const start = performance.now();
  const result = await runSuite(suite);
  return { ...result, seconds: (performance.now() - start) / 1000 };
}
// Lanes run side by side, the suites of a lane one after the other; what is `alone` waits for all.
const runs = [];
const lanes = new Map();
for (const suite of list) {
  const lane = suite.lane ?? 'main';
  const before = suite.alone ? Promise.all(runs) : lanes.get(lane);
  const run = Promise.resolve(before).then(() => timed(suite));
  lanes.set(lane, run);
  runs.push(run);
}
for (const [i, suite] of list.entries()) {
  const { seconds, ...result } = await runs[i];
  for (const key of Object.keys(total)) total[key] += result[key];
  const count = (number, word) => `${String(number).padStart(5)} ${word}`;
  const counts = [
    count(result.passed + result.failed, 'ran'),
    count(result.passed, 'ok'),
    count(result.failed, result.failed ? 'FAILED' : 'failed'),
    count(result.skipped, 'skipped'),
  ];
  console.log(
    `suite ${suite.name.padEnd(16)}${counts.join('')} ${seconds.toFixed(1).padStart(8)} s`,
  );
  if (result.failed > 0 || result.nothingRan) show(result.output);
  if (result.failed > 0) failures.push({ suite: suite.name, lines: failedLines(result.output) });
}
// Once more at the end: a log that was cut keeps its last lines.
for (const { suite, lines } of failures) {
  console.log(`FAILED in suite ${suite}:`);
  show(lines.join('\n'));
}
console.log(`in ${((performance.now() - began) / 1000).toFixed(0)} s`);
const skipped = total.skipped ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exit(total.failed ? 1 : 0);
