// SPDX-License-Identifier: Apache-2.0
// Threads that share the module's memory: the same bits for any number of them, and every way to misuse
// them. Each number is a module of its own.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { syncBuiltinESMExports } from 'node:module';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';
import { AttnError, load, supportedVariants } from 'attn';
import { attentionForward, loadThreadedModule } from 'attn/parts';
import { noise } from './support.mjs';
import { fullModules } from './support_full.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Enough work to be worth waking them, and items that do not divide among them.
const shape = { batch: 1, queryHeads: 6, kvHeads: 3, queries: 513, keys: 300, width: 40 };
const inputs = {
  q: noise(6 * 513 * 40, 1),
  k: noise(3 * 300 * 40, 2),
  v: noise(3 * 300 * 40, 3),
};
const rules = { window: { left: 200 }, causal: true, softcap: 3 };
const dO = noise(6 * 513 * 40, 4);

function everything(attn) {
  const { o, lse } = attn.attentionForward({ ...inputs, shape, ...rules });
  const gradients = attn.attentionBackward({ ...inputs, shape, ...rules, o, lse, dO });
  const one = { ...shape, queries: 1 };
  const decoded = attn.attentionForward({
    ...inputs,
    q: inputs.q.subarray(0, 6 * 40),
    shape: one,
    form: 'decode',
  });
  return { o, lse, ...gradients, decoded: decoded.o };
}

const invalid = (threads, text) =>
  assert.rejects(load({ threads }), (error) => {
    assert.ok(error instanceof AttnError);
    assert.equal(error.code, 'invalid-argument');
    assert.ok(error.message.includes(text), error.message);
    return true;
  });

for (const [variant, alone] of fullModules) {
  describe(`attn.threads ${variant}`, () => {
    const wanted = everything(alone);
    for (const threads of [2, 3, 4]) {
      test(`${threads} threads: the bits of one, call after call`, async () => {
        const attn = await load({ variant, threads });
        after(() => attn.close());
        assert.equal(attn.threads, threads);
        assert.equal(attn.full, true);
        assert.ok(attn.url.endsWith(`attn.threads.${variant}.wasm`), attn.url);
        assert.deepEqual(everything(attn), wanted);
        const heap = attn.heapBytes; // with what the first call keeps: the list of backends
        for (let run = 0; run < 5; ++run) assert.deepEqual(everything(attn), wanted);
        assert.equal(attn.heapBytes, heap);
      });
    }

    test('memory that a thread lets grow is seen by all', async () => {
      const attn = await load({ variant, threads: 2 });
      after(() => attn.close());
      const keys = 1 << 17;
      const shape = { batch: 1, queryHeads: 1, kvHeads: 1, queries: 2, keys, width: 32 };
      const before = attn.memoryBytes;
      const { o } = attn.attentionForward({
        q: noise(64, 5),
        k: noise(keys * 32, 6),
        v: new Float32Array(keys * 32).fill(2),
        shape,
      });
      assert.ok(attn.memoryBytes > before);
      for (const x of o) assert.ok(Math.abs(x - 2) < 1e-5);
    });

    test('closed: its calls fail, others go on', async () => {
      const closed = await load({ variant, threads: 2 });
      const open = await load({ variant, threads: 2 });
      after(() => open.close());
      closed.close();
      closed.close();
      assert.throws(() => everything(closed), {
        code: 'invalid-argument',
        message: /this module was closed/,
      });
      assert.deepEqual(everything(open), wanted);
    });

    test('errors leave the threads at work', async () => {
      const attn = await load({ variant, threads: 2 });
      after(() => attn.close());
      assert.throws(() => attn.attentionForward({ ...inputs, shape, softcap: -1 }), {
        code: 'invalid-argument',
      });
      assert.deepEqual(everything(attn), wanted);
    });
  });
}

test('one thread is the usual module, 0 one for each processor', async () => {
  const one = await load({ threads: 1, full: true });
  assert.equal(one, await load({ full: true }));
  assert.equal(one.threads, 1);
  one.close(); // nothing
  assert.ok(one.backends().length > 1);
  const all = await load({ threads: 0 });
  after(() => all.close());
  assert.equal(all.threads, Math.min(64, availableParallelism()));
});

// Each terminate() of a worker listens for its end: more than ten are a warning.
test('many threads end without a warning', () => {
  const program = `
    import { load } from 'attn';
    (await load({ threads: 14 })).close();`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', program],
    { cwd: root, encoding: 'utf8' },
  );
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('a number of threads brings the full module, whatever the number', async () => {
  const one = await load({ threads: 1 });
  assert.equal(one, await load({ full: true }));
  await assert.rejects(load({ threads: 2, full: false }), {
    code: 'invalid-argument',
    message: /options\.full is false/,
  });
});

test('a thread that somebody ended ends the module, and no call waits for it', async () => {
  const made = [];
  const { Worker } = workerThreads;
  workerThreads.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      made.push(this);
    }
  };
  syncBuiltinESMExports();
  try {
    const attn = await load({ threads: 3 });
    assert.equal(made.length, 2);
    await made[0].terminate();
    assert.throws(() => everything(attn), { code: 'internal', message: /one of its threads/ });
  } finally {
    workerThreads.Worker = Worker;
    syncBuiltinESMExports();
  }
});

test('a fault in a thread stops the call that it works for', async () => {
  const module = await loadThreadedModule(2);
  module.call('attn_worker_failed'); // what a thread calls that trapped
  assert.throws(() => attentionForward(module, { ...inputs, shape }), {
    code: 'internal',
    message: /attn_attention_forward stopped/,
  });
});

test('what is no number of threads is refused and named', async () => {
  await invalid(-1, 'options.threads is -1');
  await invalid(65, '65');
  await invalid(1.5, '1.5');
  await invalid(NaN, 'NaN');
  await invalid('2', '"2"');
});

test('another module is refused', async () => {
  const bytes = readFileSync(new URL('../../wasm/dist/attn.full.simd128.wasm', import.meta.url));
  await assert.rejects(load({ threads: 2, bytes }), {
    code: 'load',
    message: /a memory of its own/,
  });
  const threaded = readFileSync(
    new URL('../../wasm/dist/attn.threads.simd128.wasm', import.meta.url),
  );
  await assert.rejects(load({ bytes: threaded, full: true }), {
    code: 'load',
    message: /it imports env\.wait/,
  });
});

test('a program ends without close()', () => {
  const code = `import { load } from 'attn'; console.log((await load({ threads: 3 })).threads);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
    timeout: 30000,
  });
  assert.equal(printed, '3\n');
});

test('a page that is not isolated has one', () => {
  const code = `globalThis.crossOriginIsolated = false;
    const { load } = await import('attn');
    const attn = await load({ threads: 4 });
    console.log(attn.threads, attn.full);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(printed, '1 true\n');
});

test('supported variants are what was tested', () => {
  assert.deepEqual(
    fullModules.map(([variant]) => variant),
    supportedVariants(),
  );
});
