// SPDX-License-Identifier: Apache-2.0
// The doctest suite, as Emscripten built it, in a worker of a real browser. What counts is what
// doctest itself says: its closing line and its exit status must both be there and must agree.
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissingError, launch } from '../driver.mjs';
import { startServer } from '../server.mjs';

const kHere = dirname(fileURLToPath(import.meta.url));
const kPreset = 'wasm';
const kModules = [
  { name: 'simd128', program: 'attn_tests.mjs' },
  { name: 'relaxed-simd', program: 'attn_tests_relaxed.mjs' },
];
const kPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>doctest</title>
<script type="module" src="doctest_page.mjs"></script></html>`;
// With --duration doctest says each case that ended; only of use when one does not.
const kDuration = /^\d+\.\d+ s: /;

function findProgram(buildFolder, program) {
  const root = join(buildFolder, kPreset);
  const places = existsSync(root) ? readdirSync(root, { recursive: true }) : [];
  const found = places.filter((place) => place === program || place.endsWith(`/${program}`));
  if (found.length === 0) {
    throw new MissingError(
      `${join(root, '**', program)} is not there: build it with ` +
        `cmake --preset ${kPreset} && cmake --build --preset ${kPreset}`,
    );
  }
  return join(root, found[0]);
}

/** doctest's "[doctest] test cases: 12 | 11 passed | 1 failed | 3 skipped" as numbers. */
export function parseSummary(lines) {
  const pattern =
    /^\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped/;
  const found = lines.map((line) => pattern.exec(line)).filter(Boolean);
  if (found.length !== 1) return undefined;
  const [total, passed, failed, skipped] = found[0].slice(1).map(Number);
  return { total, passed, failed, skipped };
}

async function runModule({ page, server, program, args, limitMs, print }) {
  const variant = server.variant({
    roots: { 'program/': dirname(program), '': join(kHere, '..', 'fixtures') },
    pages: { 'index.html': kPage },
  });
  await page.goto(`${variant.url}index.html`);
  await page.waitFor('the page to be ready', 'typeof window.startDoctest === "function"');
  await page.evaluate(
    (url, list) => window.startDoctest(url, list),
    `${variant.url}program/${basename(program)}`,
    args,
  );
  const lines = [];
  let last = 'none';
  const end = performance.now() + limitMs;
  for (;;) {
    const { fresh, done } = await page.evaluate(() => window.takeDoctest());
    for (const line of fresh) {
      lines.push(line);
      if (kDuration.test(line)) last = line;
      else print(line);
    }
    if (done) return { ...done, lines };
    if (performance.now() > end) {
      return { error: `no end within ${limitMs / 1000} s; last case to finish: ${last}`, lines };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** What is wrong with a run, or undefined. */
export function verdict({ status, error, lines }, summary) {
  if (error) return error;
  if (!summary && status === undefined) {
    return 'no closing line and no exit status: it trapped, or was linked without -sEXIT_RUNTIME';
  }
  if (!summary) return 'the closing line of doctest is missing';
  if (summary.passed + summary.failed === 0) return 'no test case ran';
  if (status === undefined) return 'the program gave no exit status';
  if ((status === 0) !== (summary.failed === 0)) {
    return `exit status ${status} does not agree with ${summary.failed} failed of ${lines.length} lines`;
  }
  return undefined;
}

export async function runDoctest({ engine, filter, full, build, limitMs, print }) {
  const programs = kModules.map((module) => ({
    ...module,
    file: findProgram(build, module.program),
  }));
  const total = { passed: 0, failed: 0, skipped: 0 };
  const server = await startServer();
  let browser;
  try {
    browser = await launch(engine, { relaxed: true });
    for (const { name, file } of programs) {
      const began = performance.now();
      const args = [
        '--no-colors=true',
        // The harness runs natively and under Node: a browser's clock, rounded to a millisecond, leaves
        // its timed loops without an end. Its place here comes with an element of its own.
        '--test-case-exclude=bench:*',
        '--duration=true',
        ...(filter ? [`--test-case=*${filter}*`] : []),
      ];
      if (!full) args.push('--brief');
      const result = await runModule({
        page: browser.page,
        server,
        program: file,
        args,
        limitMs,
        print: (line) => print(`  ${line}`),
      });
      const summary = parseSummary(result.lines);
      const wrong = verdict(result, summary);
      total.passed += summary?.passed ?? 0;
      total.failed += summary?.failed ?? 0;
      total.skipped += summary?.skipped ?? 0;
      // A run that broke must not pass because the cases before the break did.
      if (wrong && !summary?.failed) total.failed += 1;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const counts = summary ? `${summary.passed} passed, ${summary.failed} failed` : 'no result';
      print(
        `${engine} ${name} (${browser.version}, ${relative(process.cwd(), file)}): ${counts}, ${seconds} s`,
      );
      if (wrong) print(`  FAIL ${engine} ${name}: ${wrong}`);
    }
  } finally {
    await browser?.close();
    server.close();
  }
  return total;
}
