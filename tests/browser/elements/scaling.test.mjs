// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { settled } from '../helpers.mjs';
import { test } from '../registry.mjs';
import { cell, copied, module, open, parse, report, shownFigures, value } from './open.mjs';

const kName = 'attn-scaling';
const kArticle = [16, 64, 128, 256];
const kFields = ['spread', 'top', 'entropy', 'saturated_percent'];
const kMeasures = ['effective', 'top', 'entropy', 'saturated', 'spread'];

const complete = (page) =>
  page.waitFor(
    'the whole table',
    (tag) => document.querySelector(tag).hasAttribute('data-complete'),
    [kName],
  );
const at = (page, act) =>
  page.evaluate(
    `(() => { const root = document.querySelector('${kName}').shadowRoot; return (${act}); })()`,
  );

/** Rows of the same experiment under Node; the generator has gone through the article's sizes before d. */
async function measure(d, rules) {
  const experiment = (await module()).scaling.create({ seed: 0, trials: 500, keys: 1024 });
  try {
    if (kArticle.includes(d))
      for (const before of kArticle.filter((size) => size < d)) experiment.begin(before);
    return experiment.step(d, rules);
  } finally {
    experiment.free();
  }
}

/** What the figure shows in one column: [effective, top, entropy, saturated, spread]. */
const shown = (page, column) =>
  Promise.all(kMeasures.map((_, row) => value(page, kName, cell('pair', row, column))));

async function equals(page, column, row, what) {
  const wanted = kMeasures.map((measure) => row[measure]);
  await page.waitFor(
    what,
    (tag, query, expected) => {
      const node = document.querySelector(tag).shadowRoot.querySelector(query);
      return (
        node && Math.abs(Number(node.dataset.value) - expected) <= 1e-9 * Math.max(1, expected)
      );
    },
    [kName, cell('pair', 0, column), wanted[0]],
  );
  (await shown(page, column)).forEach((number, i) => {
    const limit = 1e-9 * Math.max(1, Math.abs(wanted[i]));
    assert.ok(
      Math.abs(number - wanted[i]) <= limit,
      `${what}, ${kMeasures[i]}: ${number} is not ${wanted[i]}`,
    );
  });
}

test('scaling: the table equals the article digit by digit, and the report', async (context) => {
  const { page } = context;
  await open(context, kName);
  await complete(page);
  const figures = await report();
  const table = figures.get('s2.table');
  const numbers = (await shownFigures(page, kName)).filter(({ id }) => id === 's2.table');
  assert.equal(numbers.length, 32);
  for (const { index, text, value: computed } of numbers) {
    const [d, scores, field] = index.split(',');
    const row = table.published.findIndex(
      (entry) => String(entry.d) === d && entry.scores === scores,
    );
    const published = table.published[row][field];
    assert.equal(text.replace('%', ''), published, index);
    const ours = Number(table.computed[row][field]);
    const shownValue = Number(computed) * (field === 'saturated_percent' ? 100 : 1);
    assert.ok(
      Math.abs(shownValue - ours) < 1e-9 * Math.max(1, ours),
      `${index}: ${shownValue}, report ${ours}`,
    );
  }
  assert.deepEqual(new Set(numbers.map(({ index }) => index.split(',')[2])), new Set(kFields));
});

test('scaling: the figure says the effective choices of the article', async (context) => {
  const { page } = context;
  await open(context, kName);
  const figures = await report();
  const numbers = new Map((await shownFigures(page, kName)).map((number) => [number.id, number]));
  const raw = numbers.get('s2.effective_raw_128');
  assert.equal(parse(raw.text), Number(figures.get('s2.effective_raw_128').leaves[0].published));
  const scaled = numbers.get('s2.effective_scaled');
  const published = Number(figures.get('s2.effective_scaled').leaves[0].published);
  assert.ok(
    Math.abs(Number(scaled.value) / published - 1) < 0.01,
    `${scaled.value} is not about ${published}`,
  );
  const lit = await at(
    page,
    "root.querySelectorAll('.dots.rule .on')[0].getAttribute('d').split('M').length - 1",
  );
  assert.equal(lit, Math.ceil(Number(scaled.value)), 'squares that are lit');
  assert.match(await page.text(`${kName} >>> .lead`), /619 of 1,024 keys.*1\.7/s);
});

test('scaling: the slider follows the keys, and the experiment follows the slider', async (context) => {
  const { page } = context;
  await open(context, kName);
  await complete(page);
  await page.focus(`${kName} >>> #d`);
  const sizeIs = async (key, d) => {
    await page.press(key);
    await page.waitFor(
      `d = ${d} after ${key}`,
      (tag, size) => document.querySelector(tag).state.d === size,
      [kName, d],
    );
    assert.equal(
      await at(page, "root.querySelector('#d').getAttribute('aria-valuetext')"),
      `d = ${d}`,
    );
    const [raw, scaled] = await measure(d, [{ divisor: 'one' }, { divisor: 'sqrt_d' }]);
    await equals(page, 0, raw, `raw at ${d}`);
    await equals(page, 1, scaled, `scaled at ${d}`);
  };
  await sizeIs('ArrowRight', 192);
  await sizeIs('ArrowLeft', 128);
  await sizeIs('Home', 1);
  await sizeIs('End', 512);
  await page.evaluate((tag) => document.querySelector(tag).undo(), kName);
  assert.equal(await page.evaluate((tag) => document.querySelector(tag).state.d, kName), 1);
});

const kRules = {
  raw: undefined,
  sqrt: { divisor: 'sqrt_d' },
  d: { divisor: 'd' },
  temperature: { divisor: 'sqrt_d', temperature: 0.5 },
  softcap: { divisor: 'one', softcap: 5 },
  qknorm: { divisor: 'sqrt_d', qkNorm: true },
};
test('scaling: every rule shows the numbers of the module', async (context) => {
  const { page } = context;
  await open(context, kName);
  const rules = Object.entries(kRules).filter(([, rule]) => rule);
  const rows = await measure(
    128,
    rules.map(([, rule]) => rule),
  );
  for (const [i, [name]] of rules.entries()) {
    await at(page, `root.querySelector('input[name=rule][value=${name}]').click()`);
    await equals(page, 1, rows[i], name);
  }
  await at(page, "root.querySelector('input[name=rule][value=raw]').click()");
  await page.frames();
  assert.equal(
    await at(page, "root.querySelectorAll('[data-grid=pair]').length"),
    kMeasures.length,
  );
});

test('scaling: a temperature from its slider', async (context) => {
  const { page } = context;
  await open(context, kName, { attributes: 'state="1;d=64;r=temperature;t=1"' });
  await page.focus(`${kName} >>> input[name=temperature]`);
  await page.press('ArrowLeft');
  const [row] = await measure(64, [{ divisor: 'sqrt_d', temperature: 0.95 }]);
  await equals(page, 1, row, 'temperature 0.95');
});

test('scaling: the button stays where it is while an experiment runs', async (context) => {
  const { page } = context;
  await open(context, kName);
  await complete(page);
  for (const width of [375, 900, 1280]) {
    await page.setViewport(width, 800);
    await page.frames();
    const tops = await page.evaluate((tag) => {
      const button = document.querySelector(tag).shadowRoot.querySelector('button[name=run]');
      const seen = new Set();
      const look = () => {
        seen.add(button.getBoundingClientRect().top + scrollY);
        return button.name;
      };
      look();
      button.click();
      return new Promise((resolve) => {
        const begun = performance.now();
        const next = () => {
          const ended = look() === 'run' && performance.now() - begun > 100;
          if (ended || performance.now() - begun > 20000) resolve([...seen]);
          else requestAnimationFrame(next);
        };
        next();
      });
    }, kName);
    const moved = Math.max(...tops) - Math.min(...tops);
    assert.ok(moved < 2, `${width} px: it was at ${tops.join(', ')}`);
  }
});

test('scaling: running again leaves the scroll position alone', async (context) => {
  const { page } = context;
  await open(context, kName);
  await complete(page);
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await page.frames();
  const before = await page.evaluate('scrollY');
  assert.ok(before > 300, `the page is ${before} px too short for this test`);
  await at(page, "root.querySelector('button[name=run]').click()");
  await page.frames();
  assert.equal(await page.evaluate('scrollY'), before);
  await complete(page);
  assert.equal(await page.evaluate('scrollY'), before);
});

test('scaling: an experiment can be stopped and run again', async (context) => {
  const { page } = context;
  await open(context, kName);
  await complete(page);
  await page.click(`${kName} >>> button[name=run]`);
  await page.click(`${kName} >>> button[name=stop]`);
  await page.frames();
  assert.equal(
    await page.evaluate((tag) => document.querySelector(tag).hasAttribute('data-complete'), kName),
    false,
  );
  const left = await at(
    page,
    "root.querySelectorAll('[data-grid=table]:not([data-value])').length",
  );
  assert.ok(left > 0, 'the table was complete before the stop');
  assert.match(await page.text(`${kName} >>> [role=status]`), /Stopped/);
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(
    await at(page, "root.querySelectorAll('[data-grid=table]:not([data-value])').length"),
    left,
    'it went on',
  );
  await page.click(`${kName} >>> button[name=run]`);
  await complete(page);
});

test('scaling: runs in a worker, and without one', async (context) => {
  const { page, site } = context;
  const variant = await open(context, kName);
  assert.ok(
    variant.requests.some((path) => /worker/.test(path)),
    'no worker was asked for',
  );
  const [raw] = await measure(128, [{ divisor: 'one' }]);
  await equals(page, 0, raw, 'in a worker');
  for (const script of [
    'delete window.Worker',
    'window.Worker = class { constructor() { throw new Error("no") } }',
  ]) {
    const other = site.variant({
      pages: {
        'none.html': `<!doctype html><html lang="en"><title>t</title><script>${script}</script>
          <script type="module" src="${kName}.js"></script><${kName}></${kName}></html>`,
      },
    });
    await page.goto(`${other.url}none.html`);
    await settled(page, kName);
    await equals(page, 0, raw, script);
    assert.ok(!other.requests.some((path) => /\/worker/.test(path)), 'a worker was asked for');
  }
});

test('scaling: a worker that cannot load leaves the work to the page', async (context) => {
  const { page, site } = context;
  const variant = site.variant({
    pages: {
      'embed.html': `<!doctype html><html lang="en"><title>t</title>
        <script type="module" src="${kName}.js"></script><${kName}></${kName}></html>`,
    },
    rules: [{ match: /\/worker[^/]*\.js$/, status: 404 }],
  });
  await page.goto(`${variant.url}embed.html`);
  await settled(page, kName);
  const [raw] = await measure(128, [{ divisor: 'one' }]);
  await equals(page, 0, raw, 'without the worker');
});

test('scaling: the result of a commit is announced once it is there', async (context) => {
  const { page } = context;
  await open(context, kName);
  await page.focus(`${kName} >>> #d`);
  await page.press('ArrowRight');
  await page.waitFor(
    'the announcement',
    (tag) =>
      /^d = 192, .*entropy/.test(
        document.querySelector(tag).shadowRoot.querySelector('[role=status]').textContent,
      ),
    [kName],
  );
});

test('scaling: copies the experiment that is shown', async (context) => {
  const { page } = context;
  await open(context, kName, { attributes: 'state="1;d=128;r=softcap;c=20"' });
  const numpy = await copied(page, kName, 'numpy');
  assert.match(numpy, /for d in \[16, 64, 128\]/);
  assert.match(numpy, /S = 20 \* np\.tanh\(q @ K\.T \/ 20\)/);
  const cpp = await copied(page, kName, 'cpp');
  assert.match(cpp, /rule\.softcap = 20;/);
  const embedded = await copied(page, kName, 'embed');
  assert.match(embedded, /state="1;d=128;r=softcap;t=0\.5;c=20"/);
});
