// SPDX-License-Identifier: Apache-2.0
// attn/parts: the methods of Attn as functions, for bundles that take only what they call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'attn';
import * as parts from 'attn/parts';
import { build } from 'esbuild';

import { noise } from './support.mjs';

const module = await parts.loadModule({ variant: 'simd128' });
const attn = await load({ variant: 'simd128' });

test('both ways share one instance', async () => {
  assert.equal(await load({ variant: 'simd128' }), attn);
  assert.equal(module.url, attn.url);
  const experiment = new parts.Scaling(module, { seed: 0, trials: 4, keys: 8 });
  const held = attn.heapBytes;
  experiment.free();
  assert.ok(attn.heapBytes < held);
});

test('every method is a part', () => {
  const renamed = { close: 'endThreads', randomGenerator: 'Generator', scaling: 'Scaling' };
  const facts = ['variant', 'full', 'threads', 'version', 'url', 'memoryBytes', 'heapBytes'];
  for (const name of Object.keys(attn)) {
    if (facts.includes(name)) continue;
    assert.equal(typeof parts[renamed[name] ?? name], 'function', name);
  }
});

test('a part gives what the method gives', () => {
  const q = noise(6, 1);
  const k = noise(10, 2);
  const a = { q, k, v: k, queries: 3, keys: 5, width: 2, causal: true };
  assert.deepEqual(parts.softLookup(module, a), attn.softLookup(a));
  assert.deepEqual(parts.backends(module), attn.backends());
  assert.deepEqual(new parts.Generator(module, 7).random(3), attn.randomGenerator(7).random(3));
});

test('the full module, and that a module which is not is refused as one', async () => {
  const full = await parts.loadFullModule({ variant: 'simd128' });
  assert.equal((await load({ variant: 'simd128', full: true })).url, full.url);
  assert.notEqual(full, module);
  const { cos } = parts.rotaryTables(full, { rows: 1, rotaryWidth: 2 });
  assert.deepEqual([...cos], [1]);
  await assert.rejects(parts.loadModule({ full: true }), /options.full is unknown/);
  await assert.rejects(parts.loadFullModule({ wasmUrl: attn.url }), (error) => {
    assert.equal(error.code, 'load');
    return error.message.includes(`${attn.url}: is the page's module`);
  });
});

test('a bundle holds what it calls and no more', async () => {
  const bytes = async (contents) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    });
    return outputFiles[0].contents.length;
  };
  const lookup = await bytes(
    `import { loadModule, softLookup } from 'attn/parts'; console.log(loadModule, softLookup);`,
  );
  const all = await bytes(`import { load } from 'attn'; console.log(load);`);
  assert.ok(lookup < 0.75 * all, `${lookup} bytes of ${all}`);
  const { outputFiles } = await build({
    stdin: {
      contents: `import { loadModule, Scaling } from 'attn/parts'; console.log(loadModule, Scaling);`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'esm',
    write: false,
  });
  assert.doesNotMatch(outputFiles[0].text, /attn\.full\.(simd128|relaxed)|maskKeep|rotary/);
});
