// SPDX-License-Identifier: Apache-2.0
// Pictures of the page and of each element, to be looked at:
//   node tests/browser/shots.mjs [--engine chromium] [--element attn-lookup|page] [--width 320]
//                                [--build FOLDER]
// They land in build/shots/<engine>/, with all of them on one sheet (index.html, sheet.png).
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MissingError, kEngines, launch } from './driver.mjs';
import { calm, settled } from './helpers.mjs';
import { startServer } from './server.mjs';
import { embed, kElements, makeSite } from './site.mjs';

const kWidths = [320, 768, 1280];
const kTallest = 12000; // what Xvfb's screen in driver/webkit_process.mjs holds
const kThemes = [
  { name: 'light', dark: false },
  { name: 'dark', dark: true },
];

async function shoot({ page, url, names, file, width }) {
  await page.setViewport(width, 800);
  await page.goto(url);
  for (const name of names) await settled(page, name);
  for (const name of names) await calm(page, name);
  const height = await page.evaluate('document.documentElement.scrollHeight');
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot(file, { width, height: Math.min(kTallest, Math.max(200, height)) });
  if (height > kTallest) console.log(`  cut at ${kTallest} of ${height} px`);
}

async function contactSheet(server, page, folder, files) {
  const figures = files.map((file) => {
    const name = file.replace('.png', '');
    return `<figure><figcaption>${name}</figcaption><img src="${file}" alt="${name}"></figure>`;
  });
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shots</title><style>
    body { margin: 8px; font: 12px sans-serif; background: #888; columns: 6; column-gap: 8px }
    figure { margin: 0 0 8px; break-inside: avoid } img { width: 100%; max-height: 700px; object-fit: cover; object-position: top; display: block }
    </style>${figures.join('\n')}</html>\n`;
  writeFileSync(join(folder, 'index.html'), html);
  const variant = server.variant({ roots: { '': folder } });
  await page.emulate({});
  await page.setViewport(1600, 800);
  await page.goto(`${variant.url}index.html`);
  const height = await page.evaluate('document.documentElement.scrollHeight');
  await page.screenshot(join(folder, 'sheet.png'), {
    width: 1600,
    height: Math.min(kTallest, height),
  });
}

async function main() {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { values } = parseArgs({
    options: {
      engine: { type: 'string', default: 'chromium' },
      element: { type: 'string' },
      width: { type: 'string' },
      build: { type: 'string', default: join(root, 'build') },
    },
  });
  const what = values.element ? [values.element] : [...kElements, 'page'];
  const unknown = what.find((name) => name !== 'page' && !kElements.includes(name));
  if (unknown) throw new MissingError(`--element ${unknown}: one of ${kElements.join(', ')}, page`);
  if (!kEngines.includes(values.engine)) {
    throw new MissingError(`--engine ${values.engine}: one of ${kEngines.join(', ')}`);
  }
  const widths = values.width === undefined ? kWidths : [Number(values.width)];
  if (!widths.every((width) => Number.isInteger(width) && width >= 300 && width <= 1600)) {
    throw new MissingError(`--width ${values.width}: a whole number from 300 to 1600`);
  }
  const build = resolve(values.build);
  if (!existsSync(join(build, 'page', 'index.html'))) {
    throw new MissingError(
      `${join(build, 'page', 'index.html')} is not there: build the page (make build)`,
    );
  }
  const folder = join(build, 'shots', values.engine);
  mkdirSync(folder, { recursive: true });
  const server = await startServer({ capture: values.engine === 'webkit' });
  const browser = await launch(values.engine);
  const files = [];
  try {
    const site = makeSite(server, join(build, 'page'));
    const pages = Object.fromEntries(kElements.map((name) => [`${name}.html`, embed([name])]));
    const { url } = site.variant({ pages });
    for (const name of what) {
      for (const theme of kThemes) {
        if (!(await browser.page.emulate({ dark: theme.dark }))) {
          console.log(`  ${values.engine} has no ${theme.name} mode: left out`);
          continue;
        }
        for (const width of widths) {
          const file = `${name}-${width}-${theme.name}.png`;
          const names = name === 'page' ? kElements : [name];
          const address = name === 'page' ? `${url}index.html` : `${url}${name}.html`;
          await shoot({ page: browser.page, url: address, names, file: join(folder, file), width });
          console.log(`  ${relative('', join(folder, file))}`);
          files.push(file);
        }
      }
    }
    await contactSheet(server, browser.page, folder, files);
    console.log(
      `${files.length} pictures; all of them on ${relative('', join(folder, 'sheet.png'))}`,
    );
  } finally {
    await browser.close();
    server.close();
  }
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(
      `tests/browser/shots.mjs: ${error instanceof MissingError ? error.message : error.stack}`,
    );
    process.exit(2);
  },
);
