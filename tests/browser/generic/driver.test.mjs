// SPDX-License-Identifier: Apache-2.0
// The checks themselves: each must find the fault that is planted for it, in every engine. Otherwise a
// green run would only say that nobody looked.
import assert from 'node:assert/strict';
import { axe, collectGarbage, moving, overflow, violations } from '../helpers.mjs';
import { tabWalk } from '../keyboard.mjs';
import { decodePng, inspect } from '../driver/png.mjs';
import { test } from '../registry.mjs';

const kScript = `
customElements.define('x-box', class extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).innerHTML =
      '<p>deep</p><button></button><input aria-label="Cell"><div>wide</div>';
    this.shadowRoot.querySelector('button').onclick = () => { this.dataset.hit = 'yes'; };
    this.shadowRoot.querySelector('div').style.width = '500px';
    this.shadowRoot.querySelector('button').style.transition = 'color 1s';
  }
});`;
const kPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Planted faults</title>
  <link rel="stylesheet" href="tests/page.css"><script src="box.js"></script></head>
  <body><main><h1>Faults</h1><x-box></x-box><button id="end">End</button>
  <div class="tall"></div></main></body></html>`;

async function open({ page, site }, options = {}) {
  const variant = site.variant({ pages: { 'faults.html': kPage, 'box.js': kScript }, ...options });
  await page.goto(`${variant.url}faults.html`);
  return variant;
}

test('evaluate: values, promises, errors and arguments', async (context) => {
  const { page } = context;
  await open(context);
  assert.deepEqual(await page.evaluate((a, b) => [a.x + b, null], { x: 1 }, 2), [3, null]);
  assert.equal(await page.evaluate(async () => (await Promise.resolve(7)) + 1), 8);
  assert.equal(await page.evaluate('1 + 1'), 2);
  await assert.rejects(
    page.evaluate(() => {
      throw new TypeError('planted');
    }),
    /planted/,
  );
});

test('click, type and keys reach into a shadow root', async (context) => {
  const { page } = context;
  await open(context);
  assert.equal(await page.text('x-box >>> p'), 'deep');
  await page.click('x-box >>> button');
  assert.equal(await page.evaluate(() => document.querySelector('x-box').dataset.hit), 'yes');
  await page.click('x-box >>> input');
  await page.type('-1.5é');
  await page.press('Shift+Home');
  const selected = await page.evaluate(() => {
    const { value, selectionStart, selectionEnd } = document
      .querySelector('x-box')
      .shadowRoot.querySelector('input');
    return value.slice(selectionStart, selectionEnd);
  });
  assert.equal(selected, '-1.5é');
  await assert.rejects(page.click('x-box >>> em'), /nothing matches 'x-box >>> em'/);
});

test('viewports are what was asked for, down to 320 px', async (context) => {
  const { page } = context;
  await open(context);
  for (const width of [320, 768, 1280]) {
    await page.setViewport(width, 700);
    assert.deepEqual(await page.evaluate('[innerWidth, innerHeight]'), [width, 700]);
  }
});

test('the screenshot shows the page as it is now, and a black one is refused', async (context) => {
  const { page } = context;
  await open(context);
  const before = inspect(decodePng(await page.screenshot()));
  assert.ok(before.colours > 1);
  await page.evaluate(() => {
    document.body.replaceChildren();
    document.documentElement.style.background = 'rgb(0, 128, 255)';
  });
  const { data, channels, width, height } = decodePng(
    await page.screenshot(undefined, { width: 400, height: 300 }),
  );
  assert.deepEqual([width, height], [400, 300]);
  const middle = (150 * width + 200) * channels;
  assert.deepEqual([...data.subarray(middle, middle + 3)], [0, 128, 255]);
  await page.evaluate(() => {
    document.documentElement.style.background = 'rgb(0, 0, 0)';
  });
  await assert.rejects(page.screenshot(), /all black/);
});

test('console lines, uncaught errors and requests to another origin are seen', async (context) => {
  const { page, allow } = context;
  allow('errors', 'otherOrigin');
  await open(context);
  await page.evaluate(() => {
    console.warn('planted line');
    setTimeout(() => {
      throw new Error('planted throw');
    });
    Promise.reject(new Error('planted rejection'));
    new Image().src = 'http://elsewhere.test/planted.png';
  });
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
  const { console: lines, errors, otherOrigin } = await page.records();
  assert.ok(
    lines.some(({ text }) => text.includes('planted line')),
    JSON.stringify(lines),
  );
  assert.ok(
    errors.some((text) => text.includes('planted throw')),
    errors.join(),
  );
  assert.ok(
    errors.some((text) => text.includes('planted rejection')),
    errors.join(),
  );
  assert.ok(
    otherOrigin.some((url) => url.includes('planted.png')),
    otherOrigin.join(),
  );
});

test('axe looks into shadow roots under a policy', async (context) => {
  await open(context, { csp: "script-src 'self'; style-src 'self'" });
  const found = await axe(context.page);
  const names = found.filter(({ id }) => id === 'button-name');
  assert.match(names[0]?.nodes[0].target ?? '', /x-box.*button/);
});

test('sideways scrolling, motion and a missing focus ring are found', async (context) => {
  const { page } = context;
  await open(context);
  const { scrollWidth, width, offenders } = await overflow(page, 320);
  assert.ok(
    scrollWidth > width && offenders.some((text) => text.includes('div')),
    offenders.join(),
  );
  assert.deepEqual(await moving(page, 'x-box'), ['button.']);
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('button { outline: none } input:focus-visible { outline: 2px solid }');
    document.querySelector('x-box').shadowRoot.adoptedStyleSheets = [sheet];
  });
  const stops = await tabWalk(page, 'end', 5);
  assert.deepEqual(
    stops.slice(0, 2).map(({ tag, ring }) => [tag, ring]),
    [
      ['button', false],
      ['input', true],
    ],
  );
  assert.equal(stops.at(-1).id, 'end');
});

test('violations of a policy are reported', async (context) => {
  const { page } = context;
  const variant = await open(context, { csp: "script-src 'self'; style-src 'self'" });
  assert.deepEqual(await violations(page, variant), []);
  await page.evaluate(() => document.body.setAttribute('style', 'color: red'));
  const found = await violations(page, variant);
  assert.deepEqual(
    found.map(({ directive }) => directive),
    ['style-src-attr'],
  );
});

test('an object that is still held counts as leaked', async (context) => {
  const { page } = context;
  await open(context);
  await page.evaluate(() => {
    window.held = [document.createElement('p')];
    window.mounted = [new WeakRef(window.held[0]), new WeakRef(document.createElement('p'))];
  });
  assert.equal(await collectGarbage(page, 'mounted', { limitMs: 1000 }), 1);
});

test('the wheel scrolls, and emulation is what the page sees', async (context) => {
  const { page, engine } = context;
  await open(context);
  for (let turn = 0; turn < 2; ++turn) {
    await page.hover('h1');
    const from = await page.evaluate('window.scrollY');
    await page.wheelHere(150);
    await page.waitFor('the page to scroll', (y) => window.scrollY !== y, [from], 3000);
  }
  assert.equal(await page.emulate({ dark: true, reducedMotion: true }), true);
  assert.equal(await page.emulate({ forcedColors: true }), engine !== 'webkit');
  assert.equal(await page.emulate({ dark: false }), true);
});
