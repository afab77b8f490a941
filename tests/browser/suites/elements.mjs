// SPDX-License-Identifier: Apache-2.0
// The custom elements and the page in a real browser: one browser, one tab, each test in a state of
// its own. Whatever a test does, an uncaught error on its page or a request to another origin fails
// it, unless the test says that it expects one (`allow`).
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MissingError, launch } from '../driver.mjs';
import { within } from '../driver/process.mjs';
import { Skip, collect, skip } from '../registry.mjs';
import { startServer } from '../server.mjs';
import { makeSite } from '../site.mjs';

const kBrowser = join(dirname(fileURLToPath(import.meta.url)), '..');
const kFolders = ['generic', 'elements'];
const kLimitMs = 60000;

export function testFiles() {
  return kFolders.flatMap((folder) => {
    const path = join(kBrowser, folder);
    const names = existsSync(path) ? readdirSync(path) : [];
    return names
      .filter((name) => name.endsWith('.test.mjs'))
      .sort()
      .map((name) => ({
        file: `${folder}/${name}`,
        url: pathToFileURL(join(path, name)).href,
      }));
  });
}

/** Faults that no test needs to look for: they fail whichever test they happen in. */
async function checkRecords(page, allowed, { server, first }) {
  const { errors, otherOrigin: all } = await page.records();
  // A worker of the page before may still ask for its module when this page has begun.
  const otherOrigin = all.filter((url) => !(server.numberOf(url) < first));
  if (errors.length && !allowed.has('errors')) {
    throw new Error(`uncaught on the page: ${errors.join('\n')}`);
  }
  if (otherOrigin.length && !allowed.has('otherOrigin')) {
    throw new Error(`asked another origin: ${otherOrigin.join(' ')}`);
  }
}

async function runTest({ test, browser, server, site, engine, full }) {
  const { page } = browser;
  await page.reset();
  const allowed = new Set();
  const first = server.count;
  const context = {
    page,
    engine,
    server,
    full,
    base: site.variant({}).url,
    site,
    skip,
    /** 'errors' and 'otherOrigin': what this test provokes on purpose. */
    allow: (...kinds) => kinds.forEach((kind) => allowed.add(kind)),
  };
  await test.run(context);
  await checkRecords(page, allowed, { server, first });
}

export async function runElements({ engine, filter, full, build, print }) {
  const site = join(build, 'page');
  if (!existsSync(join(site, 'index.html'))) {
    throw new MissingError(
      `${relative('', site)}/index.html is not there: build the page (make build)`,
    );
  }
  const wanted = filter.toLowerCase();
  const all = await collect(testFiles());
  const tests = all.filter(({ file, name }) => `${file} ${name}`.toLowerCase().includes(wanted));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  if (tests.length === 0) return counts;
  const server = await startServer({ capture: engine === 'webkit' });
  let browser = await launch(engine);
  print(`${engine}: ${browser.version}, ${tests.length} tests`);
  try {
    for (const test of tests) {
      const began = performance.now();
      const title = `${test.file}: ${test.name}`;
      const ended = () => `${title} (${Math.round(performance.now() - began)} ms)`;
      try {
        if (test.full && !full) throw new Skip('only with --full');
        const run = runTest({ test, browser, server, site: makeSite(server, site), engine, full });
        await within(test.limitMs ?? kLimitMs, title, run);
        counts.passed += 1;
        print(`  ok   ${ended()}`);
      } catch (error) {
        if (error instanceof Skip) {
          counts.skipped += 1;
          print(`  skip ${title}: ${error.message}`);
          continue;
        }
        counts.failed += 1;
        print(`  FAIL ${engine} ${ended()}\n${indent(error.stack ?? String(error))}`);
        // A browser that hangs or died fails one test, not all that follow.
        if (/no answer within|closed|ended \(|ECONNREFUSED|detached/i.test(String(error))) {
          await browser.close();
          browser = await launch(engine);
        }
      }
    }
  } finally {
    await browser.close();
    server.close();
  }
  return counts;
}

function indent(text) {
  return text
    .split('\n')
    .filter((line) => !/node:internal/.test(line))
    .map((line) => `       ${line}`)
    .join('\n');
}
