// SPDX-License-Identifier: Apache-2.0
// State in the address, languages, and the theme that page and elements share.
import assert from 'node:assert/strict';
import { settled, shownText } from '../helpers.mjs';
import { test } from '../registry.mjs';
import { kElements, embed } from '../site.mjs';
import { open } from './open.mjs';

const state = (page, name) => page.evaluate((tag) => document.querySelector(tag).state, name);

test('state: the fragment restores it, a reset clears it, and others keep theirs', async (context) => {
  const { page } = context;
  const attributes = 'state-key="look"';
  await open(context, 'attn-lookup', {
    attributes,
    hash: '#other=1&look=1;n=2;i=2;c=0;q=5,0,0,0,0.5,0,0,-7',
  });
  const restored = await state(page, 'attn-lookup');
  assert.deepEqual(restored.q, [
    [5, 0, 0, 0],
    [0.5, 0, 0, -7],
  ]);
  assert.deepEqual([restored.query, restored.causal, restored.k.length], [1, false, 2]);
  await page.click('attn-lookup >>> button[name=add]');
  assert.match(await page.evaluate('location.hash'), /^#other=1&look=1;n=3;q=5,0,0,0,0\.5,0,0,-7/);
  await page.evaluate(() => document.querySelector('attn-lookup').reset());
  assert.equal(await page.evaluate('location.hash'), '#other=1');
  await page.evaluate(() => {
    location.hash = '#look=1;i=1';
  });
  await page.waitFor(
    'the new fragment',
    () => document.querySelector('attn-lookup').state.query === 0,
  );
});

test('state: without state-key the address is left alone', async (context) => {
  const { page } = context;
  await open(context, 'attn-lookup', { hash: '#lookup=1;n=2' });
  assert.equal((await state(page, 'attn-lookup')).q.length, 3);
  await page.click('attn-lookup >>> button[name=add]');
  assert.equal(await page.evaluate('location.hash'), '#lookup=1;n=2');
});

const kHostile = [
  '1;n=1000000000;i=99;m=-4;q=1e999,NaN,Infinity,9999999;k=,,,;v=<b>x</b>',
  '1;n=NaN;d=NaN;t=NaN;c=Infinity;r=constructor',
  '1;n=-1;d=-1;t=-1;c=-1;i=0',
  '1;d=999999999;t=1e9;c=1e9;r=__proto__',
  '2;n=1',
  `1;q=${'7,'.repeat(9000)}`,
  '1;n=0x10;d=1e3;q=0x10,1_0',
  '%',
];
for (const [i, value] of kHostile.entries()) {
  test(`state: hostile fragment ${i + 1} is clamped`, async (context) => {
    const { page } = context;
    await open(context, 'attn-lookup', { attributes: 'state-key="a"', hash: `#a=${value}` });
    const { q, k, v, query, lab } = await state(page, 'attn-lookup');
    assert.ok(q.length >= 1 && q.length <= 6, `${q.length} tokens`);
    assert.ok(query >= 0 && query < q.length && lab >= 0 && lab < q.length);
    for (const row of [...q, ...k, ...v]) {
      assert.equal(row.length, 4);
      for (const entry of row) assert.ok(Math.abs(entry) <= 1000, `${entry}`);
    }
    assert.doesNotMatch(await shownText(page, 'attn-lookup'), /undefined|\[object/);
    await open(context, 'attn-scaling', { attributes: 'state-key="a"', hash: `#a=${value}` });
    const { d, rule, temperature, softcap } = await state(page, 'attn-scaling');
    assert.ok(Number.isInteger(d) && d >= 1 && d <= 512, `d = ${d}`);
    assert.ok(['raw', 'sqrt', 'd', 'temperature', 'softcap', 'qknorm'].includes(rule), rule);
    assert.ok(temperature >= 0.05 && temperature <= 4 && softcap >= 0.5 && softcap <= 60);
    assert.doesNotMatch(await shownText(page, 'attn-scaling'), /NaN|undefined|\[object/);
  });
}

test('state: assigning the property clamps as the fragment does', async (context) => {
  const { page } = context;
  await open(context, 'attn-scaling');
  await page.evaluate(() => {
    const element = document.querySelector('attn-scaling');
    element.state = { ...element.state, d: 1e9, temperature: NaN, rule: 'nonsense' };
  });
  assert.deepEqual(await state(page, 'attn-scaling'), {
    d: 128,
    rule: 'sqrt',
    temperature: 0.5,
    softcap: 5,
  });
});

for (const name of kElements) {
  test(`${name}: German by lang, the page's lang, and sentences of one's own`, async (context) => {
    const { page } = context;
    await open(context, name, { attributes: 'lang="de"' });
    const german = await shownText(page, name);
    assert.match(german, /Rückgängig/);
    assert.match(german, /Zahlen des Artikels/);
    assert.match(german, /0,090|0,817/, 'a decimal comma');
    assert.doesNotMatch(german, /\b(Undo|weight|Stop|keys)\b/);
    await open(context, name, { body: `<div lang="de-AT"><${name}></${name}></div>` });
    assert.match(await shownText(page, name), /Rückgängig/);
    await page.evaluate((tag) => {
      document.querySelector(tag).strings = { undo: '<i>Zurück</i>' };
    }, name);
    await page.frames();
    const text = await shownText(page, name);
    assert.match(text, /<i>Zurück<\/i>/, 'a sentence is text, never markup');
  });
}

test('theme: page and elements give a meaning the same colour', async ({
  page,
  site,
  skip,
  engine,
}) => {
  const variant = site.variant({});
  await page.goto(`${variant.url}index.html`);
  await settled(page, 'attn-lookup');
  const compare = () =>
    page.evaluate(() => {
      const colour = (root, query) => getComputedStyle(root.querySelector(query)).color;
      const { shadowRoot } = document.querySelector('attn-lookup');
      return [
        [colour(document, 'b.q'), colour(shadowRoot, 'caption.q')],
        [colour(document, 'b.k'), colour(shadowRoot, 'caption.k')],
        [colour(document, 'b.v'), colour(shadowRoot, 'caption.v')],
        [colour(document, 'b.w'), colour(shadowRoot, 'caption.w')],
      ];
    });
  const light = await compare();
  for (const [of, inside] of light) assert.equal(inside, of);
  if (!(await page.emulate({ dark: true }))) skip(`${engine} cannot switch dark mode on`);
  await settled(page, 'attn-lookup');
  const dark = await compare();
  for (const [of, inside] of dark) assert.equal(inside, of);
  assert.notDeepEqual(dark, light);
});

test('theme: custom properties reach the inside', async (context) => {
  const { page } = context;
  const style =
    '<style>attn-lookup { --attn-weight: rgb(1, 2, 3); } attn-lookup::part(panel) { padding: 7px; }</style>';
  const variant = context.site.variant({
    pages: { 'embed.html': embed(['attn-lookup'], { head: style }) },
  });
  await page.goto(`${variant.url}embed.html`);
  await settled(page, 'attn-lookup');
  const seen = await page.evaluate(() => {
    const root = document.querySelector('attn-lookup').shadowRoot;
    return [
      getComputedStyle(root.querySelector('caption.w')).color,
      getComputedStyle(root.querySelector('[part=panel]')).paddingTop,
    ];
  });
  assert.deepEqual(seen, ['rgb(1, 2, 3)', '7px']);
});
