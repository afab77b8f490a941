// SPDX-License-Identifier: Apache-2.0
// What a server, a policy or an old browser can do to the module, and what the reader then sees.
import assert from 'node:assert/strict';
import { settled, shownText, violations } from '../helpers.mjs';
import { test } from '../registry.mjs';
import { kElements, embed } from '../site.mjs';

const kWasm = /\.wasm$/;
const kStrict = "script-src 'self' 'wasm-unsafe-eval'; style-src 'self'";
const kLocked = `default-src 'none'; ${kStrict}; connect-src 'self'; worker-src 'self'; font-src 'self'; img-src 'self' data:`;
const first = kElements[0];

function page(names = kElements, options) {
  return { pages: { 'embed.html': embed(names, options) } };
}

for (const [name, csp] of [
  ['strict', kStrict],
  ['locked', kLocked],
]) {
  test(`runs under a ${name} content security policy without a violation`, async (context) => {
    const variant = context.site.variant({ ...page(), csp });
    await context.page.goto(`${variant.url}embed.html`);
    await settled(context.page, kElements.join(', '));
    assert.deepEqual(await violations(context.page, variant), []);
  });
}

test('a policy that forbids WebAssembly gets a message and the static figure', async (context) => {
  const csp = "script-src 'self'; style-src 'self'";
  const variant = context.site.variant({ ...page(), csp });
  await context.page.goto(`${variant.url}embed.html`);
  await settled(context.page, kElements.join(', '), 'error');
  for (const name of kElements) await readable(context.page, name);
  const found = await violations(context.page, variant);
  assert.deepEqual(
    found.filter(({ blocked }) => blocked !== 'wasm-eval'),
    [],
  );
});

test('an element that has not started is its static figure on paper', async ({ page, site }) => {
  const body = `<div style="height: 20000px"></div>${kElements.map((name) => `<${name}></${name}>`).join('')}`;
  const variant = site.variant({ pages: { 'embed.html': embed(kElements, { body }) } });
  await page.goto(`${variant.url}embed.html`);
  for (const name of kElements) {
    await page.waitFor(
      `${name} renders`,
      (tag) => document.querySelector(tag).shadowRoot?.querySelector('.on-paper'),
      [name],
    );
    const seen = await page.evaluate((tag) => {
      const root = document.querySelector(tag).shadowRoot;
      const paper = root.querySelector('.on-paper');
      const rules = root.adoptedStyleSheets.flatMap((sheet) => [...sheet.cssRules]);
      const print = rules.filter((rule) => rule.media?.mediaText === 'print');
      return {
        text: paper.textContent,
        onScreen: getComputedStyle(paper).display,
        print: print.flatMap((rule) => [...rule.cssRules].map(({ cssText }) => cssText)).join(' '),
      };
    }, name);
    assert.match(seen.text, /\d\.\d/);
    assert.equal(seen.onScreen, 'none');
    assert.match(seen.print, /\.on-paper \{ display: block; \}/);
    assert.match(seen.print, /\.on-screen \{ display: none; \}/);
  }
});

/** A message that a person can act on, and figures beside it. */
async function readable(page, name, mention = /WebAssembly/) {
  const text = await shownText(page, name);
  assert.match(text, mention);
  assert.match(text, /\d\.\d/, `${name} shows no static figure: ${text}`);
  const alert = await page.text(`${name} >>> [role=alert]`);
  assert.ok(alert?.trim(), `${name} announces nothing`);
}

for (const script of ['no_wasm.js', 'no_simd.js']) {
  test(`a browser with ${script.slice(0, -3).replace('_', ' ')} gets a message`, async (context) => {
    const head = `<script src="tests/${script}"></script>`;
    const variant = context.site.variant(page(kElements, { head }));
    await context.page.goto(`${variant.url}embed.html`);
    await settled(context.page, kElements.join(', '), 'error');
    for (const name of kElements) await readable(context.page, name);
  });
}

const kFaults = {
  'HTML served as wasm': { type: 'text/html', body: '<!doctype html><p>Please log in</p>' },
  'HTML with the type of wasm': { type: 'application/wasm', body: '<!doctype html><p>Hi</p>' },
  'a truncated module': { truncate: 0.5 },
  'an empty module': { truncate: 0 },
  'a module that is not there': { status: 404 },
  'a server error': { status: 500 },
};
for (const [fault, rule] of Object.entries(kFaults)) {
  test(`${fault}: an error that names the URL`, async (context) => {
    const variant = context.site.variant({ ...page([first]), rules: [{ match: kWasm, ...rule }] });
    await context.page.goto(`${variant.url}embed.html`);
    await settled(context.page, first, 'error');
    const asked = variant.requests.filter((path) => kWasm.test(path));
    assert.ok(asked.length > 0, 'the module was never asked for');
    const text = await shownText(context.page, first);
    assert.ok(
      asked.some((path) => text.includes(variant.url + path)),
      `the message does not name ${variant.url + asked[0]}: ${text}`,
    );
  });
}

for (const type of ['text/plain', 'application/octet-stream', 'text/html']) {
  test(`a module served as ${type} still loads`, async (context) => {
    const variant = context.site.variant({ ...page([first]), rules: [{ match: kWasm, type }] });
    await context.page.goto(`${variant.url}embed.html`);
    await settled(context.page, first);
    assert.ok(
      variant.requests.some((path) => kWasm.test(path)),
      'no module was asked for',
    );
  });
}

test('an element that failed leaves its neighbours and the page alone', async (context) => {
  const body = `<${first} wasm-url="nowhere.wasm"></${first}><p id="after">After it.</p>`;
  const variant = context.site.variant(page([first], { body }));
  await context.page.goto(`${variant.url}embed.html`);
  await settled(context.page, first, 'error');
  assert.match(await shownText(context.page, first), /nowhere\.wasm/);
  assert.equal(await context.page.text('#after'), 'After it.');
});
