// SPDX-License-Identifier: Apache-2.0
// What a reader downloads, as gzip, against its budget.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { filesBelow, root } from './paths.mjs';

const kWasmBudget = 60_000; // bytes, each of the page's modules
const kFullBudget = 165_000; // bytes, each module with everything, also that with threads
const kElementsBudget = 45_000; // bytes, both elements with their libraries

const gzip = (path) => gzipSync(readFileSync(join(root, path)), { level: 9 }).length;
const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

// The scripts that importing `entries` makes a page load: static imports and dynamic ones.
function closure(entries) {
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = readFileSync(join(root, path), 'utf8');
    const imports =
      /(?:from|import)\s*\(?\s*["'`](\.[^"'`]+\.js)["'`]|new URL\(\s*["'`]([^"'`]+\.js)["'`]/g;
    for (const [, imported, url] of text.matchAll(imports)) {
      visit(join(dirname(path), imported ?? url));
    }
  };
  entries.forEach(visit);
  return [...seen];
}

export function sizes() {
  const result = { passed: 0, failed: 0, skipped: 0, output: '' };
  const check = (what, bytes, budget) => {
    const ok = bytes > 0 && bytes <= budget;
    result[ok ? 'passed' : 'failed'] += 1;
    const line = `size ${what}: ${kB(bytes)} gzip, budget ${kB(budget)}${ok ? '' : ' EXCEEDED'}`;
    console.log(line);
    result.output += `${line}\n`;
  };
  const modules = filesBelow('build/page', (name) => name.endsWith('.wasm'));
  for (const variant of ['simd128', 'relaxed']) {
    const path = modules.find((name) => basename(name).startsWith(`attn.${variant}`));
    check(`attn.${variant}.wasm`, path ? gzip(path) : 0, kWasmBudget);
    for (const stem of ['full', 'threads']) {
      const module = `wasm/dist/attn.${stem}.${variant}.wasm`;
      check(basename(module), gzip(module), kFullBudget);
    }
  }
  const entries = ['attn-lookup', 'attn-scaling'].map((name) => `build/page/${name}.js`);
  const scripts = closure(entries);
  check(
    `elements (${scripts.length} scripts)`,
    scripts.reduce((sum, s) => sum + gzip(s), 0),
    kElementsBudget,
  );
  return result;
}
