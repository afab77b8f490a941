// SPDX-License-Identifier: Apache-2.0
import { root } from './paths.mjs';
import { run } from './run.mjs';

// One program whose output says how many cases ran. No case, or an exit code that contradicts the
// count, is one failure more.
export async function counted(count, command, args, options) {
  const result = await run(command, args, { cwd: root, ...options });
  const counts = count(result.output) ?? { passed: 0, failed: 0, skipped: 0 };
  let output = `$ ${[command, ...args].join(' ')}\n${result.output}`;
  if (result.ended) output += `\n${result.ended}\n`;
  if (result.code !== 0) output += `\nexit code ${result.code}\n`;
  const none = counts.passed + counts.failed + counts.skipped === 0;
  if (none) output += '\nno case ran\n';
  if (none || result.ended || (result.code !== 0 && counts.failed === 0)) counts.failed += 1;
  return { ...counts, output };
}
