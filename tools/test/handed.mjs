// SPDX-License-Identifier: Apache-2.0
// The case files handed to the project, beside the checkout in ../shared. Each goes through the
// command line of the native and of the Node program, on every backend.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { plain } from './count.mjs';
import { full, root } from './paths.mjs';
import { run } from './run.mjs';

// What `attn check` supports so far. A file that asks for more is skipped here by name; given to
// `attn check` itself it fails and names the field.
const supportedOps = ['attention', 'merge_states', 'rms_norm', 'rotary_embedding'];
function beyond(file) {
  const { op } = JSON.parse(readFileSync(file, 'utf8'));
  return supportedOps.includes(op) ? '' : `op ${op}`;
}

export async function handedCases() {
  const total = { passed: 0, failed: 0, skipped: 0, output: '' };
  const files = [];
  for (const [folder, prefix] of [
    ['cases', ''],
    ['onnx', 'onnx_attention_'],
    ['onnx', 'onnx_r'],
  ]) {
    const path = join(root, '..', 'shared', folder);
    if (!existsSync(path)) {
      total.skipped += 1;
      total.output += `skipped: ../shared/${folder} is not there\n`;
      continue;
    }
    const names = readdirSync(path).filter((n) => n.startsWith(prefix) && n.endsWith('.json'));
    for (const file of names.sort().map((name) => join(path, name))) {
      const reason = beyond(file);
      if (reason) {
        total.skipped += 1;
        total.output += `skipped: ${file} needs ${reason}\n`;
      } else {
        files.push(file);
      }
    }
  }
  if (files.length === 0) return total;
  const programs = [
    ['build/bin/attn'],
    [process.execPath, 'build/bin/attn.mjs'],
    ...(full ? [['build/asan/bin/attn'], ['build/gcc/bin/attn']] : []),
  ];
  for (const [command, ...args] of programs) {
    const result = await run(command, [...args, 'check', ...files, '--backend', 'all'], {
      cwd: root,
    });
    const counts = plain(result.output);
    const ok = counts && (result.code === 0) === (counts.failed === 0) && !result.ended;
    total.passed += counts?.passed ?? 0;
    total.failed += ok ? counts.failed : Math.max(counts?.failed ?? 0, 1);
    total.skipped += counts?.skipped ?? 0;
    total.output += `$ ${[command, ...args].join(' ')} check (exit code ${result.code}${
      result.ended ? `, ${result.ended}` : ''
    })\n${result.output}\n`;
  }
  return total;
}
