// SPDX-License-Identifier: Apache-2.0
// Every rule of attention in the module that has all: by hand, and every backend against the f64
// reference.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertNear, noise } from './support.mjs';
import { fullModules } from './support_full.mjs';

const fast = 'highway:WASM';
const forwardTolerance = { f32: 2e-6, f64: 1e-14 };
const gradientTolerance = { f32: 1e-5, f64: 1e-13 };

const shape = { batch: 2, queryHeads: 4, kvHeads: 2, queries: 5, keys: 7, width: 6, valueWidth: 3 };
const extent = {
  q: 2 * 4 * 5 * 6,
  k: 2 * 2 * 7 * 6,
  v: 2 * 2 * 7 * 3,
  o: 2 * 4 * 5 * 3,
  lse: 2 * 4 * 5,
};
const grid = 2 * 4 * 5 * 7;
const keep = (length, seed) => Uint8Array.from(noise(length, seed), (x) => (x > -0.4 ? 1 : 0));

// Options with tensors of the wanted type.
const rules = {
  'window, both sides': () => ({ window: { left: 2, right: 1 } }),
  'window, left of causal': () => ({ window: { left: 1 }, causal: true }),
  softcap: () => ({ softcap: 0.7 }),
  'boolean mask': () => ({ maskKeep: keep(grid, 11) }),
  'boolean mask of a row for all': () => ({ maskKeep: keep(7, 12), maskKeepShape: [1, 1, 1, 7] }),
  'additive mask': (Type) => ({ maskAdd: noise(grid, 13, Type) }),
  'additive mask of each head': (Type) => ({
    maskAdd: noise(4 * 7, 14, Type).map((x) => (x > 0.8 ? -Infinity : 3 * x)),
    maskAddShape: [1, 4, 1, 7],
  }),
  sinks: (Type) => ({ sinks: Type.of(0.5, -1, -Infinity, 2) }),
  lengths: () => ({ kvLens: [3, 7] }),
  'an empty sequence': () => ({ kvLens: [0, 4], causal: true }),
  everything: (Type) => ({
    scale: -0.4,
    window: { left: 3, right: 2 },
    softcap: 1.5,
    maskKeep: keep(grid, 15),
    maskAdd: noise(5 * 7, 16, Type),
    maskAddShape: [1, 1, 5, 7],
    sinks: Type.of(1, 0, -2, 0.3),
    kvLens: Int32Array.of(6, 5),
  }),
};

const inputs = (Type) => ({
  q: noise(extent.q, 1, Type),
  k: noise(extent.k, 2, Type),
  v: noise(extent.v, 3, Type),
});
const upstream = (Type) => ({ dO: noise(extent.o, 4, Type), dLse: noise(extent.lse, 5, Type) });
const types = { f32: Float32Array, f64: Float64Array };
const same = (got, wanted, tolerance, what) => {
  for (const name of Object.keys(wanted)) {
    assertNear(got[name], wanted[name], tolerance, `${what}: ${name}`);
  }
  assert.deepEqual(Object.keys(got), Object.keys(wanted));
};

for (const [variant, attn] of fullModules) {
  describe(`attn.full ${variant}: rules`, () => {
    test('is the full module, with f64 on SIMD', () => {
      assert.equal(attn.full, true);
      assert.ok(attn.url.endsWith(`attn.full.${variant}.wasm`), attn.url);
      assert.deepEqual(attn.backends(), [
        { name: 'reference', f32: true, f64: true, lanes: 1 },
        { name: fast, f32: true, f64: true, lanes: 4 },
        { name: 'portable', f32: true, f64: false, lanes: 16 },
      ]);
    });

    for (const [rule, of] of Object.entries(rules)) {
      test(`${rule}: every form and backend, forward and backward, is the f64 reference`, () => {
        // What the masks of f32 hold, f64 must hold too.
        const exactly = Object.fromEntries(
          Object.entries(of(Float32Array)).map(([name, value]) => [
            name,
            value instanceof Float32Array ? Float64Array.from(value) : value,
          ]),
        );
        const wide = Object.fromEntries(
          Object.entries(inputs(Float32Array)).map(([name, x]) => [name, Float64Array.from(x)]),
        );
        const wideUp = Object.fromEntries(
          Object.entries(upstream(Float32Array)).map(([name, x]) => [name, Float64Array.from(x)]),
        );
        const all = { ...wide, shape, ...exactly, backend: 'reference' };
        const wanted = attn.attentionForward(all);
        const gradients = attn.attentionBackward({ ...all, ...wanted, ...wideUp });
        assert.equal(gradients.dSinks !== undefined, exactly.sinks !== undefined);
        for (const [dtype, Type] of Object.entries(types)) {
          const f32 = dtype === 'f32';
          const given = f32 ? inputs(Type) : wide;
          const how = f32 ? of(Type) : exactly;
          for (const backend of ['reference', fast]) {
            for (const form of ['auto', 'flash', 'explicit', 'decode']) {
              const got = attn.attentionForward({ ...given, shape, ...how, backend, form });
              same(got, wanted, forwardTolerance[dtype], `${dtype} ${backend} ${form}`);
            }
            const forward = attn.attentionForward({ ...given, shape, ...how, backend });
            const up = f32 ? upstream(Type) : wideUp;
            const a = { ...given, ...forward, ...up, shape, ...how, backend };
            const got = attn.attentionBackward(a);
            same(got, gradients, gradientTolerance[dtype], `${dtype} ${backend}`);
          }
        }
      });
    }

    test('the parts of the keys change nothing but roundings', () => {
      const a = { ...inputs(Float32Array), shape, sinks: Float32Array.of(0, 1, 2, 3) };
      const wanted = attn.attentionForward({ ...a, form: 'flash' });
      for (const kvSplits of [1, 2, 3, 100]) {
        const got = attn.attentionForward({ ...a, form: 'decode', kvSplits });
        same(got, wanted, forwardTolerance.f32, `${kvSplits} parts`);
      }
    });

    test('by hand: two keys of score 0 and values 1 and 3', () => {
      const zero = new Float64Array(2);
      const a = { q: zero.subarray(1), k: zero, v: Float64Array.of(1, 3) };
      const one = { shape: { queries: 1, keys: 2, width: 1 } };
      const look = (more) => {
        const { o, lse } = attn.attentionForward({ ...a, ...one, ...more });
        return [o[0], lse[0]];
      };
      const near = (got, wanted) => assertNear(Float64Array.from(got), wanted, 1e-15);
      near(look({}), [2, Math.log(2)]);
      near(look({ maskKeep: Uint8Array.of(0, 1) }), [3, 0]);
      near(look({ maskAdd: Float64Array.of(Math.log(3), 0) }), [1.5, Math.log(4)]);
      near(look({ sinks: Float64Array.of(Math.log(2)) }), [1, Math.log(4)]);
      near(look({ kvLens: [1] }), [1, 0]);
      near(look({ window: { left: 0 } }), [3, 0]); // the query stands at the last key
      near(look({ kvLens: [0] }), [0, -Infinity]);
      near(look({ kvLens: [0], sinks: Float64Array.of(5) }), [0, 5]);
      // Scores 2 and 0, capped at 1: tanh(2) and 0.
      const q = Float64Array.of(1);
      const capped = attn.attentionWeights({
        q,
        k: Float64Array.of(2, 0),
        ...one,
        softcap: 1,
      });
      near(capped.scores, [Math.tanh(2), 0]);
    });

    test('pages: the same as the whole cache, and nothing unused is read', () => {
      for (const [dtype, Type] of Object.entries(types)) {
        const pageSize = 2;
        const room = { ...shape, queries: 1, keys: 8 };
        const lengths = [3, 8];
        const q = noise(2 * 4 * 6, 6, Type);
        const whole = { k: noise(2 * 2 * 8 * 6, 7, Type), v: noise(2 * 2 * 8 * 3, 8, Type) };
        const pageTable = [9, 4, -1, 1000, 0, 7, 2, 5];
        const paged = (from, width) => {
          const to = new Type(10 * 2 * pageSize * width).fill(NaN);
          for (let b = 0; b < 2; ++b) {
            for (let h = 0; h < 2; ++h) {
              for (let j = 0; j < lengths[b]; ++j) {
                const page = pageTable[b * 4 + Math.floor(j / pageSize)];
                const row = ((b * 2 + h) * 8 + j) * width;
                const slot = (page * 2 + h) * pageSize + (j % pageSize);
                to.set(from.subarray(row, row + width), slot * width);
              }
            }
          }
          return to;
        };
        for (const backend of ['reference', fast]) {
          const a = { q, kvLens: lengths, causal: true, backend };
          const wanted = attn.attentionForward({ ...a, ...whole, shape: room, form: 'decode' });
          const got = attn.attentionForward({
            ...a,
            k: paged(whole.k, 6),
            v: paged(whole.v, 3),
            shape: { ...room, pageSize },
            pageTable,
          });
          same(got, wanted, forwardTolerance[dtype], `${dtype} ${backend}`);
        }
      }
    });

    test('packed sequences: each is a call of its own', () => {
      const cuSeqlensQ = [0, 2, 2, 5];
      const cuSeqlensK = [0, 3, 4, 4];
      const packed = { queries: 5, keys: 4, width: 6, valueWidth: 3 };
      const q = noise(5 * 6, 21);
      const k = noise(4 * 6, 22);
      const v = noise(4 * 3, 23);
      const dO = noise(5 * 3, 24);
      const sinks = Float32Array.of(0.3);
      const how = { causal: true, softcap: 2, sinks };
      const all = { q, k, v, shape: packed, ...how, cuSeqlensQ, cuSeqlensK };
      const got = attn.attentionForward(all);
      const gradients = attn.attentionBackward({ ...all, ...got, dO });
      let dSink = 0;
      for (let s = 0; s < 3; ++s) {
        const [q0, q1] = cuSeqlensQ.slice(s);
        const [k0, k1] = cuSeqlensK.slice(s);
        const one = {
          q: q.subarray(q0 * 6, q1 * 6),
          k: k.subarray(k0 * 6, k1 * 6),
          v: v.subarray(k0 * 3, k1 * 3),
          shape: { ...packed, queries: q1 - q0, keys: k1 - k0 },
          ...how,
        };
        const wanted = attn.attentionForward(one);
        assert.deepEqual(got.o.subarray(q0 * 3, q1 * 3), wanted.o);
        assert.deepEqual(got.lse.subarray(q0, q1), wanted.lse);
        const up = { ...wanted, dO: dO.subarray(q0 * 3, q1 * 3) };
        const part = attn.attentionBackward({ ...one, ...up });
        assert.deepEqual(gradients.dq.subarray(q0 * 6, q1 * 6), part.dq);
        assert.deepEqual(gradients.dk.subarray(k0 * 6, k1 * 6), part.dk);
        assert.deepEqual(gradients.dv.subarray(k0 * 3, k1 * 3), part.dv);
        dSink += part.dSinks[0];
      }
      assertNear(gradients.dSinks, [dSink], 1e-6);
    });

    test('calls leave the heap as it was, also those that fail', () => {
      const a = { ...inputs(Float32Array), shape, ...rules.everything(Float32Array) };
      const round = () => {
        const forward = attn.attentionForward(a);
        attn.attentionForward({ ...a, form: 'decode', kvSplits: 3 });
        attn.attentionBackward({ ...a, ...forward, ...upstream(Float32Array) });
        assert.throws(() => attn.attentionForward({ ...a, kvLens: [8, 0] }), /kv_lens\[0\] is 8/);
      };
      round();
      const before = { heap: attn.heapBytes, memory: attn.memoryBytes };
      for (let i = 0; i < 300; ++i) round();
      assert.deepEqual({ heap: attn.heapBytes, memory: attn.memoryBytes }, before);
    });
  });
}
