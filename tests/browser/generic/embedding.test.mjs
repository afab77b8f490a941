// SPDX-License-Identifier: Apache-2.0
// A stranger's page: several instances, odd places, frames, and a server that renders.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { collectGarbage, figures, settled } from '../helpers.mjs';
import { test } from '../registry.mjs';
import { kElements, embed } from '../site.mjs';

const kRoot = fileURLToPath(new URL('../../..', import.meta.url));
const kMounts = 200;
const kAtOnce = 10;
// The article's row in which -inf hides every key: that its softmax is NaN is what it shows.
const kNotANumber = 's1.all_masked';

async function open({ page, site }, names, options) {
  const variant = site.variant({ pages: { 'embed.html': embed(names, options) } });
  await page.goto(`${variant.url}embed.html`);
  return variant;
}

for (const name of kElements) {
  test(`${name}: every number is one`, async (context) => {
    await open(context, [name]);
    await settled(context.page, name);
    const shown = await figures(context.page, name);
    assert.ok(Object.keys(shown).length >= 3, `too few figures: ${JSON.stringify(shown)}`);
    for (const [id, text] of Object.entries(shown)) {
      if (id === kNotANumber) {
        assert.equal(text, 'NaN');
        continue;
      }
      assert.match(text, /\d/, `${id} shows '${text}'`);
      assert.doesNotMatch(text, /NaN|undefined|null|\[object/, `${id} shows '${text}'`);
    }
  });

  test(`${name}: three instances are independent`, async (context) => {
    const { page } = context;
    const body = ['a', 'b', 'c'].map((id) => `<${name} id="${id}"></${name}>`).join('');
    await open(context, [name], { body });
    await settled(page, name);
    const [a, b] = [await figures(page, '#a'), await figures(page, '#b')];
    assert.deepEqual(a, b);
    await page.evaluate(() => document.querySelector('#a').remove());
    await page.frames();
    assert.deepEqual(await figures(page, '#b'), b);
    assert.deepEqual(await figures(page, '#c'), b);
    await settled(page, name);
  });

  test(
    `${name}: ${kMounts} mounts and unmounts leak nothing`,
    { limitMs: 120000 },
    async (context) => {
      const { page } = context;
      const head = '<script src="tests/watch_wasm.js"></script>';
      await open(context, [name], { head, body: `<div id="place"></div>` });
      await page.evaluate(mountMany, name, 20);
      const early = await page.evaluate('wasmSeen()');
      for (let done = 0; done < kMounts; done += kAtOnce) {
        await page.evaluate(mountMany, name, kAtOnce);
      }
      const late = await page.evaluate('wasmSeen()');
      assert.ok(early.instances >= 1, 'no module was started');
      assert.equal(late.workers, 0, 'workers outlive their elements');
      assert.equal(late.instances, early.instances, 'modules pile up');
      assert.equal(late.bytes, early.bytes, 'the memory of the module grows with each mount');
      const enough = 5; // what an engine keeps for its own reasons: the last one, one in a cache
      const left = await collectGarbage(page, 'mounted', { enough });
      assert.ok(
        left <= enough,
        `${left} of ${kMounts + 2 * kAtOnce} removed elements are still held`,
      );
    },
  );

  test(`${name}: mounted in a closed <details>, shows when it is opened`, async (context) => {
    const { page } = context;
    await open(context, [name], {
      body: `<details><summary>More</summary><${name}></${name}></details>`,
    });
    await page.frames();
    await page.click('summary');
    await settled(page, name);
    const box = await page.evaluate((tag) => {
      const { width, height } = document.querySelector(tag).getBoundingClientRect();
      return { width, height };
    }, name);
    assert.ok(box.width > 200 && box.height > 100, `it is ${box.width} x ${box.height}`);
    assert.ok(Object.keys(await figures(page, name)).length >= 3);
  });

  test(`${name}: <base href> elsewhere changes nothing`, async (context) => {
    const { page, site } = context;
    const variant = site.variant({
      pages: {
        'embed.html': ({ url }) =>
          embed([name], {
            head: '<base href="/elsewhere/deep/">',
            module: (tag) => `${url}${tag}.js`,
          }),
      },
    });
    await page.goto(`${variant.url}embed.html`);
    await settled(page, name);
  });

  test(`${name}: removed while it starts, put back, moved`, async (context) => {
    const { page } = context;
    await open(context, [name], { body: `<div id="a"></div><div id="b"></div>` });
    await page.evaluate((tag) => {
      const node = document.createElement(tag);
      document.querySelector('#a').append(node);
      node.remove();
      document.querySelector('#a').append(node);
      document.querySelector('#b').append(node);
    }, name);
    await settled(page, name);
    const before = await figures(page, name);
    await page.evaluate((tag) => {
      document.querySelector('#a').append(document.querySelector(tag));
    }, name);
    await page.frames();
    await settled(page, name);
    assert.deepEqual(await figures(page, name), before);
  });
}

/**
 * Mounts and removes `count` elements. The last one shows its numbers first; the others go while they
 * start, which is when a worker or a listener is most easily forgotten.
 */
async function mountMany(tag, count) {
  window.mounted ??= [];
  const place = document.querySelector('#place');
  const end = performance.now() + 20000;
  for (let i = 1; i <= count; ++i) {
    const node = document.createElement(tag);
    place.append(node);
    const done = () => (i === count ? node.dataset.state === 'ready' : true);
    do {
      await new Promise((resolve) => setTimeout(resolve, 8));
      if (performance.now() > end) throw new Error(`mount ${i} still ${node.dataset.state}`);
    } while (!done());
    node.remove();
    window.mounted.push(new WeakRef(node));
  }
}

test('defining the elements twice does not throw', async (context) => {
  const { page } = context;
  const twice = kElements
    .map((name) => `<script type="module" src="${name}.js?again"></script>`)
    .join('');
  const variant = await open(context, kElements, { head: twice });
  await settled(page, kElements.join(', '));
  assert.ok(variant.requests.filter((path) => path === `${kElements[0]}.js`).length >= 2);
});

const kFrames = {
  'a sandboxed frame': {
    attributes: 'sandbox="allow-scripts"',
    headers: { 'Access-Control-Allow-Origin': '*' },
  },
  'a third-party frame': { swap: true },
};
for (const [title, { attributes = '', headers = {}, swap }] of Object.entries(kFrames)) {
  test(`works in ${title}`, async ({ page, site, allow }) => {
    if (swap) allow('otherOrigin');
    const variant = site.variant({
      headers,
      pages: {
        'inner.html': embed(kElements, { head: '<script defer src="tests/tell.js"></script>' }),
        'outer.html': ({ url }) => `<!doctype html><html lang="en"><title>Outer</title>
          <script src="tests/listen.js"></script>
          <iframe ${attributes} title="inner" width="900" height="700"
            src="${swap ? url.replace('localhost', '127.0.0.1') : url}inner.html"></iframe></html>`,
      },
    });
    await page.goto(`${variant.url}outer.html`);
    // The second element may be far below: what is near the viewport must run.
    const heard = await page.waitFor('the framed element to be ready', () =>
      ['ready', 'error'].includes(window.heard?.states[0]) ? window.heard : null,
    );
    assert.equal(heard.states[0], 'ready', heard.text);
  });
}

test('the package can be imported where there is no document', async () => {
  const script = `
    const all = await import('attn-explainer');
    const names = Object.keys(all);
    if (!names.includes('AttnLookup') || !names.includes('AttnScaling')) throw new Error(names.join());
    await import('attn-explainer/define');
    await import('attn-explainer/define');
    console.log('imported');`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    cwd: kRoot,
  });
  assert.equal(stdout.trim(), 'imported');
});
