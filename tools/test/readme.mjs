// SPDX-License-Identifier: Apache-2.0
// The examples of the README are programs: each ```cpp block is built against the installed
// library, each ```js block runs under Node with the package of this checkout. A ```text block right
// after one is its output, to the letter.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { buildAgainst, install } from './installed.mjs';
import { root } from './paths.mjs';
import { run } from './run.mjs';

// -> [{language, text, line}] of the fenced blocks.
function blocks(markdown) {
  const found = [];
  const fence = /^```(\w*)\n([\s\S]*?)^```$/gm;
  for (const match of markdown.matchAll(fence)) {
    const line = markdown.slice(0, match.index).split('\n').length;
    found.push({ language: match[1], text: match[2], line });
  }
  return found;
}

async function runCpp(prefix, folder, name, text) {
  const source = join(folder, `${name}.cc`);
  writeFileSync(source, text);
  const built = await buildAgainst(prefix, source, name);
  return built.ok ? run(built.program, []) : { code: 1, output: built.output, ended: '' };
}

function runJs(folder, name, text) {
  const source = join(folder, `${name}.mjs`);
  writeFileSync(source, text);
  return run(process.execPath, [source], { cwd: folder });
}

export async function readmeExamples() {
  const result = { passed: 0, failed: 0, skipped: 0, output: '' };
  const all = blocks(readFileSync(join(root, 'README.md'), 'utf8'));
  const folder = join(root, 'build', 'readme');
  mkdirSync(folder, { recursive: true });
  const { prefix, ...installed } = await install('build/release');
  if (!installed.ok) return { ...result, failed: 1, output: installed.output };
  for (const wanted of ['cpp', 'js']) {
    if (all.some(({ language }) => language === wanted)) continue;
    result.failed += 1;
    result.output += `README.md has no \`\`\`${wanted} example\n`;
  }
  for (const [i, { language, text, line }] of all.entries()) {
    if (language !== 'cpp' && language !== 'js') continue;
    const name = `readme_line_${line}`;
    const ran = await (language === 'cpp'
      ? runCpp(prefix, folder, name, text)
      : runJs(folder, name, text));
    const expected = all[i + 1]?.language === 'text' ? all[i + 1].text : undefined;
    const right =
      ran.code === 0 && ran.output !== '' && (expected === undefined || ran.output === expected);
    result[right ? 'passed' : 'failed'] += 1;
    result.output += `${right ? 'ok' : 'FAIL'} README.md:${line} (${language})\n`;
    if (!right) {
      result.output += `exit code ${ran.code} ${ran.ended}\n${ran.output}\n`;
      if (expected !== undefined) result.output += `expected:\n${expected}\n`;
    }
  }
  return result;
}
