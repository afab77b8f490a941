// SPDX-License-Identifier: Apache-2.0
// node tools/lint.mjs [--fix]: formatting and static checks over everything that git would keep.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { run } from './test/run.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const fix = process.argv.includes('--fix');
const unknown = process.argv.slice(2).find((argument) => argument !== '--fix');
if (unknown) {
  console.error(`tools/lint.mjs: unknown argument "${unknown}"; there is --fix`);
  process.exit(2);
}

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path && existsSync(join(root, path)));
const matching = (pattern) => files.filter((path) => pattern.test(path));

const bin = (name) => join(root, 'node_modules', '.bin', name);
const projects = matching(/(^|\/)tsconfig[^/]*\.json$/);

const checks = [
  [
    'clang-format',
    'clang-format-19',
    [fix ? '-i' : '--dry-run', '--Werror', '--ferror-limit=1', ...matching(/\.(cc|h|cu|cuh)$/)],
  ],
  [
    'prettier',
    bin('prettier'),
    [
      fix ? '--write' : '--check',
      '--ignore-unknown',
      '--log-level=warn',
      ...matching(/\.(ts|m?js|css|html|json)$/),
    ],
  ],
  ['eslint', bin('eslint'), [...(fix ? ['--fix'] : []), '--max-warnings=0', '.']],
  ...projects.map((path) => [`tsc ${path}`, bin('tsc'), ['--noEmit', '-p', path]]),
];

// Every source says its licence in its first lines.
function headers() {
  const sources = matching(/\.(cc|h|cu|cuh|ts|m?js|css|sh|cmake)$|(^|\/)CMakeLists\.txt$/);
  const without = sources.filter((path) => {
    const start = readFileSync(join(root, path), 'utf8').slice(0, 300);
    return !start.includes('SPDX-License-Identifier: Apache-2.0');
  });
  return without.map(
    (path) => `${path}: no "SPDX-License-Identifier: Apache-2.0" in its first lines`,
  );
}

let passed = 0;
let failed = 0;
const report = (name, problems) => {
  if (!problems) passed += 1;
  else failed += 1;
  console.log(`${problems ? 'FAIL' : 'ok'} ${name}${problems ? `\n${problems}` : ''}`);
};

for (const [name, command, args] of checks) {
  const result = await run(command, args, { cwd: root, timeout: 300 });
  report(name, result.code === 0 ? '' : `${result.output}${result.ended}`);
}
report('licence headers', headers().join('\n'));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
