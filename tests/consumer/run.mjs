// SPDX-License-Identifier: Apache-2.0
// node tests/consumer/run.mjs BUILD_FOLDER: installs the library into a new folder, builds this
// project against it with find_package and runs it.
import { fileURLToPath } from 'node:url';

import { install, buildAgainst } from '../../tools/test/installed.mjs';
import { run } from '../../tools/test/run.mjs';

const build = process.argv[2];
if (!build) {
  console.error('usage: node tests/consumer/run.mjs BUILD_FOLDER');
  process.exit(2);
}
let output = '';
let passed = 0;
let failed = 0;
const step = (name, ok, text) => {
  if (ok) passed += 1;
  else failed += 1;
  console.log(`${ok ? 'ok' : 'FAIL'} ${name}`);
  if (!ok) console.log(text);
  return ok;
};

const { prefix, ...installed } = await install(build);
if (step('install', installed.ok, installed.output)) {
  const source = fileURLToPath(new URL('main.cc', import.meta.url));
  const built = await buildAgainst(prefix, source, 'consumer');
  if (step('find_package and build', built.ok, built.output)) {
    const ran = await run(built.program, []);
    output = ran.output;
    step('run', ran.code === 0 && /^ok highway:/m.test(output), output + ran.ended);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
