// SPDX-License-Identifier: Apache-2.0
// Bad input: each error names the argument and the values, and costs no memory.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { AttnError } from 'attn';
import { WasmModule } from '../../wasm/dist/module.js';
import { assertAttnError, modules, noise } from './support.mjs';

function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}

for (const [variant, attn] of modules) {
  describe(`attn ${variant}: bad input`, () => {
    const good = {
      q: noise(12, 1),
      k: noise(12, 2),
      v: noise(12, 3),
      shape: { queries: 3, keys: 3, width: 4 },
    };
    const forward = (change) => () => attn.attentionForward({ ...good, ...change });
    const shaped = (change) => forward({ shape: { ...good.shape, ...change } });
    const refused = (call, ...texts) => assertAttnError(call, 'invalid-argument', ...texts);

    test('sizes that are no sizes', () => {
      for (const [value, shown] of [
        [NaN, 'NaN'],
        [1.5, '1.5'],
        [-1, '-1'],
        [Infinity, 'Infinity'],
        ['3', '"3"'],
        [null, 'null'],
      ]) {
        refused(shaped({ queries: value }), 'shape.queries', shown, 'integer of at least 0');
      }
      refused(
        shaped({ queries: 2 ** 53 }),
        'shape.queries is 9007199254740992, larger than 2^53 - 1',
      );
      refused(shaped({ queries: 3n }), 'shape.queries is 3n');
      refused(shaped({ batch: null }), 'shape.batch is null');
      refused(shaped({ keys: undefined }), 'shape.keys is undefined');
      refused(shaped({ width: 0 }), 'shape.width is 0', 'at least 1');
      refused(shaped({ batch: 0.5 }), 'shape.batch is 0.5');
      refused(shaped({ kvHeads: NaN }), 'shape.kvHeads is NaN');
    });

    test('arrays that do not fit the shape', () => {
      refused(
        forward({ v: noise(11, 3) }),
        'v has 11 elements',
        'keys x valueWidth',
        '1 x 1 x 3 x 4 = 12',
      );
      refused(forward({ k: noise(16, 3) }), 'k has 16 elements');
      refused(forward({ q: [1, 2, 3] }), 'q is Array, needed is a Float32Array or a Float64Array');
      refused(forward({ k: new Int32Array(12) }), 'k is Int32Array');
      refused(forward({ k: new Float64Array(12) }), 'k is Float64Array, q is Float32Array');
      refused(forward({ v: undefined }), 'v is undefined');
      const { o, lse } = attn.attentionForward(good);
      const backward = (change) => () =>
        attn.attentionBackward({ ...good, o, lse, dO: o, ...change });
      refused(backward({ dO: noise(3, 1) }), 'dO has 3 elements');
      refused(backward({ lse: noise(4, 1) }), 'lse has 4 elements', '1 x 1 x 3 = 3');
      refused(backward({ dLse: new Float64Array(3) }), 'dLse is Float64Array');
    });

    test('options', () => {
      for (const scale of [NaN, Infinity, -Infinity, null]) {
        refused(forward({ scale }), `scale is ${scale}, needed is a finite number`);
      }
      refused(forward({ scale: '1' }), 'scale is "1"');
      refused(forward({ align: 'left' }), 'align is "left"', 'bottom_right, top_left');
      refused(forward({ form: 'fast' }), 'form is "fast"', 'flash, explicit');
      refused(forward({ queryOffset: 0.5 }), 'queryOffset is 0.5');
      refused(forward({ backend: 7 }), 'backend is 7');
      for (const backend of ['x'.repeat(5000), 'reference\0']) {
        const failure = thrown(forward({ backend }));
        assert.equal(failure.code, 'not-found');
        assert.match(failure.message, /: reference, highway:WASM$/);
        assert.ok(failure.message.length < 200, failure.message);
      }
      assertAttnError(
        forward({ backend: 'cuda' }),
        'not-found',
        '"cuda"',
        'reference, highway:WASM',
      );
    });

    test('what the library itself refuses', () => {
      const uneven = { queryHeads: 3, kvHeads: 2, queries: 2, keys: 3, width: 2 };
      refused(
        () =>
          attn.attentionForward({
            q: noise(12, 1),
            k: noise(12, 1),
            v: noise(12, 1),
            shape: uneven,
          }),
        '3 heads',
        'multiple',
        '2',
      );
      const wide = { q: new Float64Array(12), k: new Float64Array(12), v: new Float64Array(12) };
      assertAttnError(
        forward({ ...wide, backend: 'highway:WASM' }),
        'unsupported',
        'highway:WASM',
        'f64',
      );
    });

    test('softmax and its Jacobian', () => {
      const x = noise(6, 1);
      refused(() => attn.softmaxRows({ x, rows: 2, columns: 4 }), 'x has 6 elements', '2 x 4 = 8');
      refused(() => attn.softmaxRows({ x, rows: NaN, columns: 4 }), 'rows is NaN');
      refused(() => attn.softmaxJacobian([1]), 'p is Array');
      refused(
        () => attn.softmaxJacobianProduct(x, noise(5, 1)),
        'g has 5 elements, needed is p.length = 6',
      );
      refused(() => attn.softmaxFiniteDifference(x, 6, 1e-3), 'j is 6', '6');
      refused(() => attn.softmaxFiniteDifference(x, 0, 0), 'step');
      refused(() => attn.softmaxFiniteDifference(x, 0.5, 1e-3), 'j is 0.5');
      refused(() => attn.softmaxSensitivity(new Float64Array(), 1, 1e-6), 'z');
      refused(
        () => attn.softmaxSensitivity(noise(3, 1), 1, 1e-6),
        'z is Float32Array, needed is a Float64Array',
      );
      refused(() => attn.multiplyJacobian(new Float64Array(2), new Float64Array(3)), 'g', '3', '2');
    });

    test('lookup, experiment, random numbers, costs, report', () => {
      const inputs = { q: good.q, k: good.k, v: good.v };
      const lookup = (change) => () =>
        attn.softLookup({ ...inputs, queries: 3, keys: 3, width: 4, ...change });
      refused(lookup({ hidden: [true] }), 'hidden has 1 elements', '3 x 3 = 9');
      for (const hidden of [null, 5, {}]) refused(lookup({ hidden }), 'hidden is', 'an array');
      for (const wrong of ['0', 2, NaN, null, undefined]) {
        refused(lookup({ hidden: [...Array(8).fill(true), wrong] }), 'hidden[8] is', 'true, false');
      }
      refused(lookup({ hiddenScore: 'none' }), 'hiddenScore is "none"');
      refused(lookup({ keys: 2 }), 'k has 12 elements', '2 x 4 = 8');
      const column = noise(65536, 1);
      const grid = { q: column, k: column, v: column, queries: 65536, keys: 65536, width: 1 };
      // 2^32 cells: a product that is 0 in 32 bits.
      refused(() => attn.softLookup(grid), 'queries 65536, keys 65536', 'above 4194304');
      const create = (change) => () =>
        attn.scaling.create({ seed: 0, trials: 10, keys: 10, ...change });
      refused(create({ seed: -1 }), 'seed is -1');
      refused(create({ seed: 2n ** 64n }), 'seed is 18446744073709551616');
      refused(create({ trials: 1.5 }), 'trials is 1.5');
      refused(create({ seed: 2 ** 53 }), 'seed is 9007199254740992', 'pass a BigInt');
      refused(create({ keys: 2 ** 31 }), 'keys is 2147483648', '65536');
      refused(create({ trials: 0 }), 'trials is 0');
      refused(create({ trials: 8192, keys: 4096 }), '8192 x 4096 = 33554432', '16777216');
      // The largest that is taken is also taken by the library.
      const experiment = attn.scaling.create({ seed: 0, trials: 256, keys: 65536 });
      experiment.begin(1);
      experiment.free();
      refused(() => experiment.begin(16), 'the experiment has been freed');
      const small = attn.scaling.create({ seed: 0, trials: 4, keys: 4 });
      refused(() => small.begin(0), '0');
      small.begin(2);
      refused(() => small.measure(), '4');
      assert.equal(small.advance(3), 1);
      assert.equal(small.advance(100), 0);
      refused(() => small.measure({ temperature: 0 }), 'temperature');
      refused(() => small.measure({ softcap: Infinity }), 'softcap is Infinity');
      refused(() => small.measure({ divisor: 'two' }), 'divisor is "two"');
      small.free();
      const generator = attn.randomGenerator(1);
      refused(() => generator.random(-1), 'n is -1');
      generator.free();
      generator.free();
      refused(() => generator.random(1), 'the generator has been freed');
      const [model] = attn.costs.models();
      refused(() => attn.costs.ofModel({ ...model, heads: 0 }), 'model.heads is 0');
      refused(() => attn.costs.ofModel({ ...model, dModel: 1e9 }), 'd_model is 1000000000');
      refused(() => attn.costs.table(model, [1, NaN]), 'lengths[1] is NaN');
      refused(() => attn.costs.table(model, [2 ** 52]), '4503599627370496');
      assertAttnError(() => attn.report('cuda'), 'not-found', '"cuda"');
    });

    test('more memory than there is', () => {
      const shape = { queries: 100000, keys: 100000, width: 1 };
      const row = new Float32Array(100000);
      assertAttnError(
        () => attn.attentionWeights({ q: row, k: row, shape }),
        'out-of-memory',
        'bytes',
      );
      // Fits 32 bits, and not what one array may have.
      const generator = attn.randomGenerator(1);
      assertAttnError(() => generator.random(2 ** 28), 'out-of-memory', '2147483648 bytes');
      assert.equal(generator.random(1).length, 1);
      generator.free();
      attn.attentionForward(good);
    });
  });
}

test('memory that the engine does not give', async () => {
  const bytes = readFileSync(new URL('../../wasm/dist/attn.simd128.wasm', import.meta.url));
  const { instance } = await WebAssembly.instantiate(bytes);
  const module = new WasmModule(instance, 'test:', () => {});
  // Of the 2 GiB that the module may have, one such block fits; nothing of it is touched.
  const pointer = module.malloc(2 ** 30, 'first');
  for (const bytes of [2 ** 30, 2 ** 31 - 2 ** 20, 2 ** 31 - 1]) {
    assertAttnError(
      () => module.malloc(bytes, 'second'),
      'out-of-memory',
      `second: ${bytes} bytes`,
    );
  }
  module.free(pointer);
  module.free(module.malloc(2 ** 30, 'third'));
});

describe('a module that stops', () => {
  const exportsOf = (version) => ({
    memory: new WebAssembly.Memory({ initial: 1 }),
    _initialize() {},
    attn_abi_version: () => version,
    attn_count: () => 3,
    attn_boom() {
      throw new WebAssembly.RuntimeError('unreachable');
    },
    free() {
      throw new Error('touched after death');
    },
  });

  test('is not used again, and says so', () => {
    let deaths = 0;
    const module = new WasmModule({ exports: exportsOf(2) }, 'test:', () => ++deaths);
    assert.equal(module.call('attn_count'), 3);
    assertAttnError(() => module.call('attn_boom'), 'internal', 'attn_boom', 'unreachable');
    assertAttnError(() => module.call('attn_count'), 'internal', 'has stopped', 'unreachable');
    module.free(8);
    assert.equal(deaths, 1);
  });

  test('speaks another version of the interface', () => {
    const make = () => new WasmModule({ exports: exportsOf(3) }, 'test:', () => {});
    assertAttnError(make, 'load', 'version 3', '2');
  });

  test('AttnError is an Error with a code', () => {
    const error = new AttnError('unsupported', 'why');
    assert.ok(error instanceof Error);
    assert.deepEqual([error.name, error.code, error.message], ['AttnError', 'unsupported', 'why']);
  });
});
