// SPDX-License-Identifier: Apache-2.0
// What a reader's screen, settings, keyboard and assistive technology ask of each element alone.
import assert from 'node:assert/strict';
import {
  axe,
  calm,
  crowded,
  describeViolations,
  moving,
  overflow,
  panelColours,
  settled,
} from '../helpers.mjs';
import { markTabbable, neverReached, tabWalk } from '../keyboard.mjs';
import { test } from '../registry.mjs';
import { kElements, embed } from '../site.mjs';

// The element stands where it would in an article: in a section, under its heading.
const kBefore = '<h2>A section</h2><p><a id="before" href="#before">Before</a></p>';
const kAfter = '<p><button id="after">After</button></p><div class="tall"></div>';

async function open({ page, site }, name, { head = '', attributes = '' } = {}) {
  const body = `${kBefore}<${name} ${attributes}></${name}>${kAfter}`;
  const links = `<link rel="stylesheet" href="tests/page.css">${head}`;
  const variant = site.variant({ pages: { 'embed.html': embed([name], { head: links, body }) } });
  await page.goto(`${variant.url}embed.html`);
  await settled(page, name);
  await calm(page, name);
  return variant;
}

for (const name of kElements) {
  // 320 px is also 1280 px at 400 % zoom (WCAG 1.4.10).
  test(`${name}: no sideways scrolling and no crowded cell from 320 px up`, async (context) => {
    await open(context, name);
    for (const width of [320, 375, 600, 768, 900, 1280]) {
      const { scrollWidth, width: shown, offenders } = await overflow(context.page, width);
      assert.ok(
        scrollWidth <= shown,
        `${width} px: ${scrollWidth} > ${shown}; ${offenders.join(', ')}`,
      );
      assert.deepEqual(
        await crowded(context.page, name),
        [],
        `${width} px: text wider than its cell`,
      );
    }
  });

  for (const media of [{}, { dark: true }, { forcedColors: true }]) {
    const mode = Object.keys(media)[0] ?? 'light';
    test(`${name}: axe finds nothing (${mode})`, async (context) => {
      const { page, skip, engine } = context;
      await open(context, name);
      if (!(await page.emulate(media))) skip(`${engine} cannot switch ${mode} on`);
      await settled(page, name);
      for (const width of [320, 1280]) {
        await page.setViewport(width, 800);
        await page.frames();
        // In forced colours the system picks them, so their contrast is not ours to judge.
        const rules = media.forcedColors ? { rules: { 'color-contrast': { enabled: false } } } : {};
        const found = await axe(page, rules);
        assert.equal(describeViolations(found), '', `at ${width} px`);
      }
    });
  }

  test(`${name}: follows dark mode, and an attribute overrides it`, async (context) => {
    const { page, skip, engine } = context;
    await open(context, name);
    const light = await panelColours(page, name);
    assert.ok(light.background > 0.7 && light.text < 0.3, JSON.stringify(light));
    if (!(await page.emulate({ dark: true }))) skip(`${engine} cannot switch dark mode on`);
    await settled(page, name);
    const dark = await panelColours(page, name);
    assert.ok(dark.background < 0.2 && dark.text > 0.5, JSON.stringify(dark));
    await page.evaluate((tag) => document.querySelector(tag).setAttribute('theme', 'light'), name);
    await page.frames();
    assert.deepEqual(await panelColours(page, name), light);
  });

  test(`${name}: reduced motion stops transitions and animations`, async (context) => {
    const { page, skip, engine } = context;
    await open(context, name);
    if (!(await page.emulate({ reducedMotion: true })))
      skip(`${engine} cannot ask for reduced motion`);
    await settled(page, name);
    assert.deepEqual(await moving(page, name), []);
  });

  test(`${name}: every control is reached by Tab, seen, and left again`, async (context) => {
    const { page } = context;
    await open(context, name);
    const wanted = await markTabbable(page, name);
    assert.ok(wanted >= 3, `only ${wanted} controls`);
    const stops = await tabWalk(page, 'after');
    assert.equal(stops.at(-1)?.id, 'after', 'Tab never leaves the element');
    const inside = stops.filter(({ host }) => host === name);
    const reached = inside.map(({ wanted: index }) => index);
    assert.deepEqual(await neverReached(page, reached), [], 'never focused');
    const bare = inside.filter(({ ring }) => !ring).map(({ tag, label }) => `${tag} ${label}`);
    assert.deepEqual(bare, [], 'no focus ring');
  });

  test(`${name}: keys and the wheel scroll the page`, async (context) => {
    const { page } = context;
    await open(context, name);
    await page.evaluate(() => {
      document.activeElement?.blur();
      scrollTo(0, 0);
    });
    const scrolled = async (what, act) => {
      const from = await page.evaluate('window.scrollY');
      await act();
      await page.waitFor(`${what} to scroll the page`, (y) => window.scrollY !== y, [from], 3000);
    };
    await scrolled('PageDown outside of the element', () => page.press('PageDown'));
    await page.hover(`${name} >>> [part~=panel]`);
    await page.frames();
    await scrolled('the wheel over the element', () => page.wheelHere(300));
  });

  test(`${name}: touch targets are large enough to hit`, async (context) => {
    const { page } = context;
    await open(context, name);
    await page.setViewport(375, 800);
    await page.frames();
    // 24 px is WCAG 2.2 AA for any pointer; 44 px on touch is in the style sheets and needs a touch
    // screen, which no engine here emulates alike.
    assert.deepEqual(await page.evaluate(smallTargets, name), []);
  });
}

function smallTargets(tag) {
  const root = document.querySelector(tag).shadowRoot;
  return [...root.querySelectorAll('button, select, input, a[href]')]
    .filter((node) => node.checkVisibility())
    .map((node) => {
      const area = node.closest('label, td') ?? node;
      const { width, height } = area.getBoundingClientRect();
      const label = node.getAttribute('aria-label') ?? node.textContent.trim();
      return { what: `${node.localName} ${label}`, width, height };
    })
    .filter(({ width, height }) => width < 24 || height < 24)
    .map(({ what, width, height }) => `${what}: ${Math.round(width)} x ${Math.round(height)}`);
}
