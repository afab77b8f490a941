// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertNear, attentionByDefinition, modules, noise } from './support.mjs';

// contract.md: f32 forward 2e-6 and gradients 1e-5 relative to the largest magnitude.
const forwardTolerance = 2e-6;
const gradientTolerance = 1e-5;

// Step 1 of the article: three tokens of four numbers.
const tokens = {
  q: [1, 1, 0, 0, 0, 0, 0, 2, 2, 0, 2, 0],
  k: [1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0],
  v: [1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 3],
};
const shape = { queries: 3, keys: 3, width: 4 };
const typed = (Type) =>
  Object.fromEntries(Object.entries(tokens).map(([name, values]) => [name, Type.from(values)]));

for (const [variant, attn] of modules) {
  const names = attn.backends().map(({ name }) => name);

  describe(`attn ${variant}`, () => {
    test('says what it is', () => {
      assert.equal(attn.variant, variant);
      assert.match(attn.version, /^\d+\.\d+\.\d+$/);
      assert.ok(attn.url.endsWith(`attn.${variant}.wasm`), attn.url);
    });

    test('lists the reference and one lowering, which is not the second opinion', () => {
      const [reference, fast, ...more] = attn.backends();
      assert.deepEqual(reference, { name: 'reference', f32: true, f64: true, lanes: 1 });
      assert.deepEqual(fast, { name: 'highway:WASM', f32: true, f64: false, lanes: 4 });
      assert.deepEqual(more, []);
    });

    for (const Type of [Float32Array, Float64Array]) {
      test(`three tokens, ${Type.name}: closed forms`, () => {
        const a = { ...typed(Type), shape };
        const { o, lse } = attn.attentionForward(a);
        assert.ok(o instanceof Type && lse instanceof Type);
        const sum = Math.exp(2) + 1 + Math.exp(1);
        const row = [Math.exp(2) / sum, 2 / sum, Math.exp(2) / sum, (3 * Math.exp(1)) / sum];
        const tolerance = Type === Float32Array ? forwardTolerance : 1e-15;
        assertNear(o.subarray(8), row, tolerance);
        assertNear(lse.subarray(2), [Math.log(sum)], tolerance);
        const { scores, weights } = attn.attentionWeights({ ...a, causal: true });
        assert.deepEqual([...scores], [0.5, -Infinity, -Infinity, 0, 1, -Infinity, 2, 0, 1]);
        assert.deepEqual([weights[1], weights[2], weights[5]], [0, 0, 0]);
        assertNear(weights.subarray(6), [Math.exp(2) / sum, 1 / sum, Math.exp(1) / sum], tolerance);
      });
    }

    test('every backend and form agrees with the definition, odd sizes', () => {
      let largest = 0;
      for (const queries of [1, 17]) {
        for (const keys of [1, 17, 100]) {
          for (const [width, valueWidth] of [
            [1, 9], // one value alone may cancel, and its relative error is then no measure
            [5, 7],
            [64, 20],
          ]) {
            const q = noise(queries * width, 1);
            const k = noise(keys * width, 2);
            const v = noise(keys * valueWidth, 3);
            const size = { queries, keys, width, valueWidth };
            const scale = 1 / Math.sqrt(width);
            for (const causal of [false, true]) {
              const last = causal ? (i) => i + keys - queries : undefined;
              const wanted = attentionByDefinition({ q, k, v, ...size, scale, last });
              for (const backend of names) {
                for (const form of ['flash', 'explicit']) {
                  const got = attn.attentionForward({
                    q,
                    k,
                    v,
                    shape: size,
                    causal,
                    form,
                    backend,
                  });
                  const what = JSON.stringify({ ...size, causal, form, backend });
                  assertNear(got.o, wanted.o, forwardTolerance, what);
                  assertNear(got.lse, wanted.lse, forwardTolerance, what);
                  ++largest;
                }
              }
            }
          }
        }
      }
      assert.equal(largest, 2 * 3 * 3 * 2 * 2 * names.length);
    });

    test('options: scale 0 and negative, alignment, offset, rows that see nothing', () => {
      const { q, k, v } = typed(Float64Array);
      const size = { queries: 3, keys: 3, width: 4, valueWidth: 4 };
      for (const scale of [0, -1.5]) {
        const { o } = attn.attentionForward({ q, k, v, shape, scale });
        assertNear(o, attentionByDefinition({ q, k, v, ...size, scale }).o, 1e-15);
      }
      const fewer = { queries: 3, keys: 2, width: 4 };
      const [k2, v2] = [k.subarray(0, 8), v.subarray(0, 8)];
      const cases = [
        [{ align: 'top_left' }, (i) => i],
        [{ align: 'bottom_right' }, (i) => i - 1],
        [{}, (i) => i - 1],
        [{ queryOffset: -2 }, (i) => i - 2],
      ];
      for (const [options, last] of cases) {
        const got = attn.attentionForward({
          q,
          k: k2,
          v: v2,
          shape: fewer,
          causal: true,
          ...options,
        });
        const wanted = attentionByDefinition({
          q,
          k: k2,
          v: v2,
          ...size,
          keys: 2,
          scale: 0.5,
          last,
        });
        assertNear(got.o, wanted.o, 1e-15, JSON.stringify(options));
        assertNear(got.lse, wanted.lse, 1e-15, JSON.stringify(options));
      }
      const none = attn.attentionForward({ q, k, v, shape, causal: true, queryOffset: -100 });
      assert.deepEqual([...none.o], Array(12).fill(0));
      assert.deepEqual([...none.lse], [-Infinity, -Infinity, -Infinity]);
      const empty = attn.attentionForward({
        q,
        k: new Float64Array(),
        v: new Float64Array(),
        shape: { queries: 3, keys: 0, width: 4 },
      });
      assert.deepEqual([...empty.o], Array(12).fill(0));
    });

    test('query heads share key heads', () => {
      const size = {
        batch: 2,
        queryHeads: 4,
        kvHeads: 2,
        queries: 5,
        keys: 6,
        width: 3,
        valueWidth: 2,
      };
      const q = noise(2 * 4 * 5 * 3, 4);
      const k = noise(2 * 2 * 6 * 3, 5);
      const v = noise(2 * 2 * 6 * 2, 6);
      const { o } = attn.attentionForward({ q, k, v, shape: size });
      for (let b = 0; b < 2; ++b) {
        for (let h = 0; h < 4; ++h) {
          const from = b * 4 + h;
          const kv = b * 2 + (h >> 1);
          const wanted = attentionByDefinition({
            ...size,
            q: q.subarray(from * 15, (from + 1) * 15),
            k: k.subarray(kv * 18, (kv + 1) * 18),
            v: v.subarray(kv * 12, (kv + 1) * 12),
            scale: 1 / Math.sqrt(3),
          });
          assertNear(o.subarray(from * 10, (from + 1) * 10), wanted.o, forwardTolerance);
        }
      }
    });

    test('backward: f64 against central differences, f32 against f64', () => {
      const size = { queryHeads: 2, kvHeads: 1, queries: 4, keys: 5, width: 3, valueWidth: 2 };
      const inputs = {
        q: noise(24, 7, Float64Array),
        k: noise(15, 8, Float64Array),
        v: noise(10, 9, Float64Array),
      };
      const dO = noise(16, 10, Float64Array);
      const dLse = noise(8, 11, Float64Array);
      const options = { shape: size, causal: true };
      const loss = (a) => {
        const { o, lse } = attn.attentionForward({ ...a, ...options });
        return (
          o.reduce((sum, x, i) => sum + x * dO[i], 0) +
          lse.reduce((sum, x, i) => sum + x * dLse[i], 0)
        );
      };
      const forward = attn.attentionForward({ ...inputs, ...options });
      const exact = attn.attentionBackward({ ...inputs, ...forward, dO, dLse, ...options });
      const step = 1e-5;
      for (const [name, gradient] of [
        ['q', exact.dq],
        ['k', exact.dk],
        ['v', exact.dv],
      ]) {
        const nudged = inputs[name].map((x, i) => {
          const at = (delta) => inputs[name].map((y, j) => (j === i ? y + delta : y));
          const up = loss({ ...inputs, [name]: at(step) });
          const down = loss({ ...inputs, [name]: at(-step) });
          return (up - down) / (2 * step);
        });
        // Central differences: step^2 of truncation, 1e-16 / step of rounding.
        assertNear(gradient, nudged, 1e-9, name);
      }
      const single = Object.fromEntries(
        Object.entries({ ...inputs, dO, dLse }).map(([name, x]) => [name, Float32Array.from(x)]),
      );
      const narrow = { q: single.q, k: single.k, v: single.v };
      const f32 = attn.attentionForward({ ...narrow, ...options });
      const got = attn.attentionBackward({ ...single, ...f32, ...options });
      for (const name of ['dq', 'dk', 'dv'])
        assertNear(got[name], exact[name], gradientTolerance, name);
    });

    test('softmax of rows: masked, shifted, NaN in its own row', () => {
      const x = Float32Array.from([
        1000,
        1001,
        -Infinity,
        0,
        NaN,
        0,
        -Infinity,
        -Infinity,
        -Infinity,
      ]);
      for (const backend of names) {
        const { p, lse } = attn.softmaxRows({ x, rows: 3, columns: 3, backend });
        const e = Math.exp(1);
        assertNear(p.subarray(0, 3), [1 / (1 + e), e / (1 + e), 0], forwardTolerance, backend);
        assertNear(lse.subarray(0, 1), [1000 + Math.log(1 + e)], forwardTolerance, backend);
        assert.ok(p.subarray(3, 6).every(Number.isNaN), backend);
        assert.deepEqual([...p.subarray(6)], [0, 0, 0]);
        assert.equal(lse[2], -Infinity);
      }
      const empty = attn.softmaxRows({ x: new Float32Array(), rows: 2, columns: 0 });
      assert.deepEqual([...empty.lse], [-Infinity, -Infinity]);
    });

    test('the Jacobian, its product and finite differences are one thing', () => {
      const z = Float64Array.from([2, 0, 1]);
      const { p } = attn.softmaxRows({ x: z, rows: 1, columns: 3 });
      const j = attn.softmaxJacobian(p);
      for (let i = 0; i < 9; ++i) {
        const [row, column] = [Math.floor(i / 3), i % 3];
        assert.ok(Math.abs(j[i] - p[row] * ((row === column) - p[column])) < 1e-16);
      }
      const g = Float64Array.from([0.3, -0.5, 2]);
      const product = attn.softmaxJacobianProduct(p, g);
      const byHand = [0, 1, 2].map(
        (i) => j[3 * i] * g[0] + j[3 * i + 1] * g[1] + j[3 * i + 2] * g[2],
      );
      assertNear(product, byHand, 1e-15);
      const both = attn.multiplyJacobian(p, g);
      assertNear(both.fast, product, 1e-15);
      assertNear(both.slow, product, 1e-15);
      assert.ok(both.fastOperations < both.slowOperations);
      const column = attn.softmaxFiniteDifference(z, 1, 1e-6);
      assertNear(column, [j[1], j[4], j[7]], 2e-6);
      const s = attn.softmaxSensitivity(z, 8, 1e-6);
      // The article: 0.2227 falls to 0.000335.
      assert.equal(s.jacobian[0].toFixed(6), '0.000335');
      assertNear(
        s.rowSums.map((sum) => sum + 1),
        [1, 1, 1],
        1e-15,
      );
      assert.ok(s.largestDifference < 1e-6 && s.step === 1e-6);
    });

    test('soft lookup: every stage, masks that leak and masks that do not', () => {
      const a = { ...typed(Float64Array), queries: 3, keys: 3, width: 4 };
      const causal = attn.softLookup({ ...a, causal: true });
      assert.deepEqual([...causal.dots], [1, 1, 2, 0, 2, 0, 4, 0, 2]);
      assert.deepEqual([...causal.hardKey], [0, 1, 0]);
      assertNear(causal.output.subarray(0, 4), [1, 0, 1, 0], 1e-15);
      assert.deepEqual([...causal.leak], [0, 0, 0]);
      const zero = attn.softLookup({ ...a, causal: true, hiddenScore: 'zero' });
      assert.deepEqual(
        [...zero.weights.subarray(0, 3)].map((w) => w.toFixed(3)),
        ['0.452', '0.274', '0.274'],
      );
      assert.equal((100 * zero.leak[0]).toFixed(0), '55');
      const all = attn.softLookup({ ...a, hidden: Array(9).fill(true) });
      assert.ok(all.naive.every(Number.isNaN));
      assert.deepEqual([...all.weights], Array(9).fill(0));
      assert.deepEqual([...all.hardKey], [-1, -1, -1]);
      const flat = attn.softLookup({ ...a, scale: 0 });
      assertNear(flat.weights, Array(9).fill(1 / 3), 1e-15);
      const single = attn.softLookup({
        ...typed(Float32Array),
        queries: 3,
        keys: 3,
        width: 4,
        causal: true,
      });
      assert.ok(single.weights instanceof Float32Array);
      assertNear(single.output, causal.output, forwardTolerance);
    });
  });
}
