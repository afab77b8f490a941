// SPDX-License-Identifier: Apache-2.0
// node tests/browser/run.mjs --engine chromium|firefox|webkit --suite doctest|elements
//                            [--filter TEXT] [--full] [--build FOLDER] [--limit SECONDS]
// --limit is the time that one module's doctest run may take.
// Exit code: 0 all passed, 1 something failed, 2 it could not run (wrong option, missing browser).
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MissingError, kEngines } from './driver.mjs';
import { runDoctest } from './suites/doctest.mjs';
import { runElements } from './suites/elements.mjs';

const kSuites = { doctest: runDoctest, elements: runElements };
const kRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

class UsageError extends Error {}

function readOptions() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        engine: { type: 'string' },
        suite: { type: 'string' },
        filter: { type: 'string', default: '' },
        full: { type: 'boolean', default: false },
        limit: { type: 'string', default: '280' },
        build: { type: 'string', default: join(kRoot, 'build') },
      },
    }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  if (!kEngines.includes(values.engine)) {
    throw new UsageError(`--engine ${values.engine ?? '(missing)'}: one of ${kEngines.join(', ')}`);
  }
  if (!Object.hasOwn(kSuites, values.suite ?? '')) {
    const names = Object.keys(kSuites).join(', ');
    throw new UsageError(`--suite ${values.suite ?? '(missing)'}: one of ${names}`);
  }
  const seconds = Number(values.limit);
  if (!(seconds >= 1 && seconds <= 86400)) {
    throw new UsageError(`--limit ${values.limit}: a number of seconds from 1 to 86400`);
  }
  return { ...values, build: resolve(values.build), limitMs: seconds * 1000 };
}

async function main() {
  const options = readOptions();
  const began = performance.now();
  const print = (line) => console.log(line);
  const { passed, failed, skipped } = await kSuites[options.suite]({ ...options, print });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  print(`${options.suite} in ${options.engine}: ${seconds} s`);
  if (passed + failed === 0) throw new UsageError(`no test matches --filter '${options.filter}'`);
  print(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  return failed ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error) => {
    const expected = error instanceof UsageError || error instanceof MissingError;
    console.error(`tests/browser/run.mjs: ${expected ? error.message : error.stack}`);
    process.exit(2);
  },
);
