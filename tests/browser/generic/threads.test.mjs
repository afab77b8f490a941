// SPDX-License-Identifier: Apache-2.0
// The package's threads on a page: only where the page is cross-origin isolated, with the bits of one.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from '../registry.mjs';

const kPackage = fileURLToPath(new URL('../../../wasm/dist', import.meta.url));
const kIsolated = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
const kPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Threads</title>
<script type="module">
import { load } from './attn/index.js';
const shape = { batch: 1, queryHeads: 5, kvHeads: 5, queries: 300, keys: 300, width: 32 };
const values = (seed) => Float32Array.from({ length: 5 * 300 * 32 }, (_, i) =>
  Math.sin(seed + i * 12.9898));
const inputs = { q: values(1), k: values(2), v: values(3), shape, causal: true };
window.run = async (threads) => {
  const attn = await load({ threads });
  const alone = await load({ full: true });
  const wanted = alone.attentionForward(inputs);
  let same = true;
  for (let i = 0; i < 5; ++i) {
    const got = attn.attentionForward(inputs);
    for (const name of ['o', 'lse']) {
      same &&= got[name].every((x, at) => Object.is(x, wanted[name][at]));
    }
  }
  const result = {
    isolated: globalThis.crossOriginIsolated === true,
    shared: typeof SharedArrayBuffer === 'function',
    threads: attn.threads,
    same,
    variant: attn.variant === alone.variant,
  };
  attn.close();
  return result;
};
</script></html>`;

async function run({ page, site }, headers) {
  const { url } = site.variant({
    roots: { 'attn/': kPackage },
    pages: { 'threads.html': kPage },
    headers,
  });
  await page.goto(`${url}threads.html`);
  await page.waitFor('the script', () => typeof window.run === 'function');
  return page.evaluate(() => window.run(3));
}

test('threads: an isolated page has three, with the bits of one', async (context) => {
  const { isolated, shared, threads, same, variant } = await run(context, kIsolated);
  // WebKit's port for this system shares no memory; then there is one thread, as promised.
  if (context.engine !== 'webkit') assert.ok(isolated && shared);
  assert.equal(threads, isolated && shared ? 3 : 1);
  assert.ok(same && variant);
});

test('threads: any other page has one', async (context) => {
  const { isolated, threads, same } = await run(context, {});
  assert.deepEqual({ isolated, threads, same }, { isolated: false, threads: 1, same: true });
});
