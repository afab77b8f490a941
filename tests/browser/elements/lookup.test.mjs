// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from '../registry.mjs';
import {
  cell,
  copied,
  focused,
  module,
  open,
  parse,
  report,
  shownFigures,
  value,
} from './open.mjs';

const kName = 'attn-lookup';
const kFigures = [
  's1.scores_token3',
  's1.exps',
  's1.exp_sum',
  's1.weights_token3',
  's1.output_token3',
  's1.qkT',
  's1.P_causal',
  's1.PV_causal',
  's1.zero_mask_row1',
  's1.zero_mask_leak',
  's1.all_masked',
];
const kQ = [1, 1, 0, 0, 0, 0, 0, 2, 2, 0, 2, 0];
const kK = [1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0];
const kV = [1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 3];

async function lookup(change = {}) {
  const shape = { queries: 3, keys: 3, width: 4, causal: true };
  const { q = kQ, k = kK, v = kV, ...rest } = change;
  const [a, b, c] = [q, k, v].map((values) => Float32Array.from(values));
  return (await module()).softLookup({ ...shape, ...rest, q: a, k: b, v: c });
}

const row = (page, grid, index, columns) =>
  Promise.all(
    Array.from({ length: columns }, (_, column) => value(page, kName, cell(grid, index, column))),
  );
const column = (page, grid, index, rows) =>
  Promise.all(Array.from({ length: rows }, (_, at) => value(page, kName, cell(grid, at, index))));

/** The page may run the other variant, which contracts multiply-add: the last bits of f32 differ. */
function near(actual, expected, what) {
  assert.equal(actual.length, expected.length, what);
  actual.forEach((number, i) => {
    const limit = 1e-6 * Math.max(1, Math.abs(expected[i]));
    assert.ok(
      Math.abs(number - expected[i]) <= limit,
      `${what}: ${actual} is not ${[...expected]}`,
    );
  });
}

test('lookup: every figure of Step 1 equals the report', async (context) => {
  const { page } = context;
  await open(context, kName);
  const figures = await report();
  const shown = await shownFigures(page, kName);
  const seen = new Map();
  for (const { id, index, value: computed, text } of shown) {
    const figure = figures.get(id);
    assert.ok(figure, `${id} is not a figure`);
    const [i, j] = index.split(',').map(Number);
    const width = Array.isArray(figure.published) ? (figure.published[0].length ?? 1) : 1;
    const leaf = figure.leaves[j === undefined ? i : i * width + j];
    seen.set(id, (seen.get(id) ?? 0) + 1);
    if (id === 's1.all_masked') {
      assert.equal(text, 'NaN');
      continue;
    }
    const scale = id === 's1.zero_mask_leak' ? 100 : 1;
    near([Number(computed) * scale], [leaf.computed], `${id}[${index}]`);
    const printed = parse(text.replace(/[^\d.%−]+.*$/, ''));
    assert.equal(printed, Number(leaf.published), `${id}[${index}] shows '${text}'`);
  }
  for (const id of kFigures) {
    assert.equal(seen.get(id), figures.get(id).leaves.length, `${id}: numbers on screen`);
  }
});

test('lookup: typing into a cell moves the weights at once, and one commit can be undone', async (context) => {
  const { page } = context;
  await open(context, kName);
  const before = await column(page, 'scores', 3, 3);
  await page.click(`${kName} >>> ${cell('k', 1, 0)}`);
  await page.type('5');
  const k = kK.with(4, 5);
  const expected = await lookup({ k });
  await page.waitFor(
    'weights while typing',
    (tag, query) => document.querySelector(tag).shadowRoot.querySelector(query).dataset.value > 0.8,
    [kName, cell('scores', 1, 3)],
  );
  near(await column(page, 'scores', 3, 3), expected.weights.slice(6, 9), 'weights while typing');
  await page.press('Enter');
  near(await row(page, 'output', 0, 4), expected.output.slice(8, 12), 'output');
  assert.equal(await focused(page, kName), 'k 2,0', 'Enter moves down');
  assert.equal(
    (await shownFigures(page, kName)).length,
    0,
    'these are not the figures of the article',
  );
  assert.match(await page.text(`${kName} >>> .lead`), /Token 3 gives 9\d\.\d% .* token 2/);
  await page.waitFor(
    'the result to be announced',
    (tag) =>
      document
        .querySelector(tag)
        .shadowRoot.querySelector('[role=status]')
        .textContent.includes('token 2'),
    [kName],
  );

  await page.press('Control+z');
  near(await column(page, 'scores', 3, 3), before, 'undo');
  await page.press('Control+Shift+z');
  near(await column(page, 'scores', 3, 3), expected.weights.slice(6, 9), 'redo');
  await page.evaluate((tag) => document.querySelector(tag).reset(), kName);
  await page.frames();
  near(await column(page, 'scores', 3, 3), before, 'reset');
});

test('lookup: one cell cursor for every table', async (context) => {
  const { page } = context;
  await open(context, kName);
  await page.focus(`${kName} >>> ${cell('q', 0, 0)}`);
  const walk = async (key, place) => {
    await page.press(key);
    assert.equal(await focused(page, kName), place, key);
  };
  await walk('ArrowRight', 'q 0,1');
  await walk('ArrowDown', 'q 1,1');
  await walk('End', 'q 1,3');
  await walk('ArrowRight', 'q 1,3');
  await walk('PageDown', 'q 2,3');
  await walk('Home', 'q 2,0');
  await walk('PageUp', 'q 0,0');
  await walk('Control+End', 'q 2,3');
  await walk('Control+Home', 'q 0,0');
  await page.focus(`${kName} >>> ${cell('p', 0, 0)}`);
  await walk('ArrowDown', 'p 1,0');
  await walk('ArrowRight', 'p 1,1');
  const stops = await page.evaluate(
    (tag) =>
      [...document.querySelector(tag).shadowRoot.querySelectorAll('[data-grid=p][tabindex="0"]')]
        .length,
    kName,
  );
  assert.equal(stops, 1, 'a table is one tab stop');
  assert.match(await page.text(`${kName} >>> #why`), /0\.7310585/, 'the strip follows the cursor');
});

test('lookup: Escape gives up, a word is refused and said, Alt with an arrow nudges', async (context) => {
  const { page } = context;
  await open(context, kName);
  const field = `${kName} >>> ${cell('v', 0, 0)}`;
  const text = () =>
    page.evaluate(
      (tag, query) => document.querySelector(tag).shadowRoot.querySelector(query).value,
      kName,
      cell('v', 0, 0),
    );
  await page.focus(field);
  await page.type('77');
  await page.press('Escape');
  await page.frames();
  assert.equal(await text(), '1');
  await page.type('seven');
  assert.equal(
    await page.evaluate(
      (tag, query) =>
        document.querySelector(tag).shadowRoot.querySelector(query).getAttribute('aria-invalid'),
      kName,
      cell('v', 0, 0),
    ),
    'true',
  );
  await page.press('Enter');
  await page.frames();
  assert.equal(await text(), '1');
  assert.match(await page.text(`${kName} >>> [role=status]`), /seven.* is not a number/);
  await page.focus(field);
  await page.press('Alt+ArrowUp');
  await page.frames();
  assert.equal(await text(), '2');
  await page.press('Alt+Shift+ArrowDown');
  await page.frames();
  assert.equal(await text(), '1.9');
  await page.type('-0,5');
  await page.press('Enter');
  await page.frames();
  assert.equal(await text(), '\u22120.5', 'a decimal comma is understood');
});

test('lookup: another query, without mask, unscaled, hard', async (context) => {
  const { page } = context;
  await open(context, kName);
  await page.click(`${kName} >>> input[name=query][aria-label="token 1 asks"]`);
  near(await column(page, 'scores', 3, 3), [1, 0, 0], 'causal weights of token 1');
  await page.click(`${kName} >>> input[name=causal]`);
  const free = await lookup({ causal: false });
  near(await column(page, 'scores', 3, 3), free.weights.slice(0, 3), 'weights of token 1');
  await page.click(`${kName} >>> input[name=scaled]`);
  const raw = await lookup({ causal: false, scale: 1 });
  near(await column(page, 'scores', 3, 3), raw.weights.slice(0, 3), 'unscaled weights');
  await page.evaluate(
    (tag) => document.querySelector(tag).shadowRoot.querySelectorAll('input[name=hard]')[1].click(),
    kName,
  );
  await page.frames();
  assert.equal(raw.hardKey[0], 2);
  near(await column(page, 'scores', 3, 3), [0, 0, 1], 'hard weights');
  near(await row(page, 'output', 0, 4), kV.slice(8, 12), 'hard output');
});

test('lookup: tokens can be added and removed', async (context) => {
  const { page } = context;
  await open(context, kName);
  const count = () => page.evaluate((tag) => document.querySelector(tag).state.q.length, kName);
  for (let n = 4; n <= 6; ++n) {
    await page.click(`${kName} >>> button[name=add]`);
    assert.equal(await count(), n);
  }
  assert.equal(
    await page.evaluate(
      (tag) => document.querySelector(tag).shadowRoot.querySelector('button[name=add]').disabled,
      kName,
    ),
    true,
  );
  const rows = await page.evaluate(
    (tag) => document.querySelector(tag).shadowRoot.querySelectorAll('[data-grid=p]').length,
    kName,
  );
  assert.equal(rows, 36);
  for (let n = 5; n >= 1; --n) {
    await page.click(`${kName} >>> button[name=remove]`);
    assert.equal(await count(), n);
  }
  near(await row(page, 'p', 0, 1), [1], 'the only weight');
});

test('lookup: the mask lab shows the leak, the blind row and what stands in for it', async (context) => {
  const { page } = context;
  await open(context, kName);
  const kinds = ['minus_infinity', 'zero', 'lowest_finite', 'minus_billion'];
  for (const [index, hiddenScore] of kinds.entries()) {
    const future = await lookup({ hiddenScore });
    const all = await lookup({ hiddenScore, causal: false, hidden: new Uint8Array(9).fill(1) });
    near(await row(page, 'lab', index, 3), future.weights.slice(0, 3), `${hiddenScore}, future`);
    near(
      [await value(page, kName, cell('lab', index, 3))],
      [future.leak[0]],
      `${hiddenScore}, leak`,
    );
    const last = await Promise.all(
      [4, 5, 6].map((at) => value(page, kName, cell('lab', index, at))),
    );
    near(last, all.weights.slice(0, 3), `${hiddenScore}, all`);
  }
  const said = (kind) => page.text(`${kName} >>> tr[data-kind=${kind}]`);
  assert.match(await said('zero'), /55% leaks/);
  assert.match(await said('minus_infinity'), /0\s÷\s0\s=\s+NaN.*log-sum-exp −∞/s);
  for (const kind of ['lowest_finite', 'minus_billion']) {
    assert.match(await said(kind), /0% leaks.*looks at every hidden token/s);
  }
});

test('lookup: pointing at a number shows formula, inputs, both precisions and the error', async (context) => {
  const { page } = context;
  await open(context, kName);
  await page.hover(`${kName} >>> ${cell('scores', 1, 0)}`);
  await page.waitFor(
    'the strip',
    (tag) =>
      document
        .querySelector(tag)
        .shadowRoot.querySelector('#why .inputs')
        ?.textContent.includes('[0, 1, 0, 1]'),
    [kName],
  );
  const strip = await page.text(`${kName} >>> #why`);
  assert.match(strip, /\[2, 0, 2, 0\] · \[0, 1, 0, 1\]/);
  assert.match(strip, /f32\s+highway/);
  assert.match(strip, /f64\s+reference/);
  assert.match(strip, /exact/);
  await page.hover(`${kName} >>> ${cell('scores', 2, 3)}`);
  await page.waitFor(
    'the weight',
    (tag) =>
      document
        .querySelector(tag)
        .shadowRoot.querySelector('#why .inputs')
        ?.textContent.includes('2.718 ÷ 11.107'),
    [kName],
  );
  assert.match(
    await page.text(`${kName} >>> #why`),
    /e−(8|9|10)/,
    'rounding error of an f32 weight',
  );
});

test('lookup: overflow on paper is said; softmax is not harmed', async (context) => {
  const { page } = context;
  await open(context, kName, { attributes: 'state="1;q=1,1,0,0,0,0,0,2,1000,0,1000,0"' });
  near(await column(page, 'scores', 3, 3), [1, 0, 0], 'weights');
  assert.match(await page.text(`${kName} >>> .area-s`), /∞/);
  assert.match(await page.text(`${kName} >>> .area-s .note`), /beyond the range/);
});

test('lookup: copies a program and an element with the same state', async (context) => {
  const { page } = context;
  await open(context, kName, { attributes: 'state="1;n=2;q=1,2,3,4,5,6,7,8.5;c=0"' });
  const numpy = await copied(page, kName, 'numpy');
  assert.match(numpy, /Q = np\.array\(\[\[1, 2, 3, 4\], \[5, 6, 7, 8\.5\]\], dtype=float\)/);
  assert.doesNotMatch(numpy, /triu/);
  const cpp = await copied(page, kName, 'cpp');
  assert.match(cpp, /AttentionForward<float>/);
  const embedded = await copied(page, kName, 'embed');
  const state = /state="([^"]+)"/.exec(embedded)[1];
  const own = await page.evaluate(
    (tag) => JSON.stringify(document.querySelector(tag).state),
    kName,
  );
  await open(context, kName, { attributes: `state="${state}"` });
  const again = await page.evaluate(
    (tag) => JSON.stringify(document.querySelector(tag).state),
    kName,
  );
  assert.equal(again, own);
});
