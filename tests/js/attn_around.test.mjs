// SPDX-License-Identifier: Apache-2.0
// What stands around attention: merged states, RMS norm, rotary embedding.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAttnError, assertNear, noise } from './support.mjs';
import { fullModules } from './support_full.mjs';

const refused = (call, ...texts) => assertAttnError(call, 'invalid-argument', ...texts);

for (const [variant, attn] of fullModules) {
  // Gradient of sum(up * f(x)) by central differences.
  const nudged = (f, x, up) =>
    x.map((_, i) => {
      const at = (step) =>
        f(x.map((y, j) => (j === i ? y + step : y))).reduce((sum, y, n) => sum + y * up[n], 0);
      return (at(1e-5) - at(-1e-5)) / 2e-5;
    });

  describe(`attn.full ${variant}: around attention`, () => {
    test('merged states are attention over all keys', () => {
      for (const [Type, tolerance] of [
        [Float32Array, 2e-6],
        [Float64Array, 1e-15],
      ]) {
        const [q, k, v] = [noise(3 * 4, 1, Type), noise(6 * 4, 2, Type), noise(6 * 2, 3, Type)];
        const over = (from, to) =>
          attn.attentionForward({
            q,
            k: k.subarray(from * 4, to * 4),
            v: v.subarray(from * 2, to * 2),
            shape: { queries: 3, keys: to - from, width: 4, valueWidth: 2 },
          });
        const size = { rows: 3, valueWidth: 2 };
        const got = attn.mergeStates({ a: over(0, 2), b: over(2, 6), ...size });
        assertNear(got.o, over(0, 6).o, tolerance);
        assertNear(got.lse, over(0, 6).lse, tolerance);
        const nothing = { o: new Type(6).fill(NaN), lse: new Type(3).fill(-Infinity) };
        assert.deepEqual(attn.mergeStates({ a: nothing, b: over(0, 2), ...size }), over(0, 2));
      }
    });

    test('RMS norm: by hand, and its gradients by differences', () => {
      const w = Float64Array.of(1, 2);
      const size = { eps: 0, rows: 1, width: 2 };
      // rms(3, 4) = sqrt(12.5)
      const rms = Math.sqrt(12.5);
      const got = attn.rmsNorm({ x: Float64Array.of(3, 4), w, ...size });
      assertNear(got, [3 / rms, 8 / rms], 1e-15);
      const wide = { eps: 0.1, rows: 3, width: 5 };
      const x = noise(15, 4, Float64Array);
      const weight = noise(5, 5, Float64Array);
      const dY = noise(15, 6, Float64Array);
      const { dx, dw } = attn.rmsNormBackward({ x, w: weight, dY, ...wide });
      const ofX = (other) => attn.rmsNorm({ x: other, w: weight, ...wide });
      const ofW = (other) => attn.rmsNorm({ x, w: other, ...wide });
      assertNear(dx, nudged(ofX, x, dY), 1e-9);
      assertNear(dw, nudged(ofW, weight, dY), 1e-9);
    });

    test('rotary embedding: a quarter turn by hand, both pairings', () => {
      const tables = { cos: Float32Array.of(0, 1), sin: Float32Array.of(1, 0) };
      const a = { x: Float32Array.of(1, 2, 3, 4), ...tables, shape: { tokens: 1, width: 4 } };
      assert.deepEqual([...attn.rotaryEmbedding({ ...a, pairing: 'interleaved' })], [-2, 1, 3, 4]);
      assert.deepEqual([...attn.rotaryEmbedding({ ...a, pairing: 'half' })], [-3, 2, 1, 4]);
    });

    test('rotary embedding: positions, a part of the channels, and back', () => {
      for (const [dtype, tolerance] of [
        ['f32', 2e-7],
        ['f64', 1e-15],
      ]) {
        const tables = attn.rotaryTables({ rows: 9, rotaryWidth: 4, base: 100, dtype });
        assertNear(tables.cos.subarray(16), [Math.cos(8), Math.cos(0.8)], tolerance);
        assertNear(tables.sin.subarray(16), [Math.sin(8), Math.sin(0.8)], tolerance);
        const shape = { batch: 2, heads: 2, tokens: 3, width: 5, rotaryWidth: 4 };
        const x = noise(60, 7, tables.cos.constructor);
        for (const pairing of ['interleaved', 'half']) {
          const how = { ...tables, pairing, shape };
          const rows = attn.rotaryEmbedding({ x, ...how });
          assert.deepEqual(
            attn.rotaryEmbedding({ x, ...how, positions: [0, 1, 2, 0, 1, 2] }),
            rows,
          );
          const far = { ...how, positions: Int32Array.of(8, 0, 3, 1, 1, 5) };
          const y = attn.rotaryEmbedding({ x, ...far });
          assert.equal(y[4], x[4]); // the fifth channel stays
          // A rotation's gradient turns back.
          assertNear(attn.rotaryEmbeddingBackward({ dY: y, ...far }), x, 2 * tolerance);
        }
      }
    });

    test('bad input names the argument and the values', () => {
      const state = { o: noise(6, 1), lse: noise(3, 1) };
      const merge = (change) => () =>
        attn.mergeStates({ a: state, b: state, rows: 3, valueWidth: 2, ...change });
      merge({})();
      refused(merge({ rows: 2 }), 'a.o has 6 elements', '2 x 2 = 4');
      refused(merge({ b: { o: state.o } }), 'b.lse is undefined');
      refused(merge({ b: { ...state, p: 1 } }), 'b.p is unknown', 'o, lse');
      refused(merge({ b: 5 }), 'b is 5');
      refused(merge({ c: state }), 'c is unknown', 'mergeStates');
      const norm = (change) => () =>
        attn.rmsNorm({ x: noise(6, 1), w: noise(2, 1), eps: 0, rows: 3, width: 2, ...change });
      norm({})();
      refused(norm({ eps: undefined }), 'eps is undefined');
      refused(norm({ eps: -1 }), 'eps is negative');
      refused(norm({ w: noise(3, 1) }), 'w has 3 elements');
      refused(norm({ w: new Float64Array(2) }), 'w is Float64Array, x is Float32Array');
      const tables = attn.rotaryTables({ rows: 3, rotaryWidth: 2 });
      const turn = (change) => () =>
        attn.rotaryEmbedding({
          x: noise(6, 1),
          ...tables,
          pairing: 'half',
          shape: { tokens: 3, width: 2 },
          ...change,
        });
      turn({})();
      refused(turn({ pairing: undefined }), 'pairing is undefined', 'interleaved, half');
      refused(turn({ shape: { tokens: 2, width: 3 } }), 'shape.rotaryWidth is 3', 'even');
      const wide = {
        cos: noise(4, 2),
        sin: noise(4, 3),
        shape: { tokens: 1, width: 6, rotaryWidth: 8 },
      };
      refused(turn(wide), '8 channels turn, X has 6');
      refused(turn({ positions: [0, 1, 3] }), 'positions[0][2] is 3, cos has 3 rows');
      refused(turn({ positions: [0, 1] }), 'positions has 2 elements', 'batch x tokens');
      refused(turn({ positions: [0, 1, 0.5] }), 'positions[2] is 0.5, needed is an integer');
      refused(turn({ sin: noise(2, 1) }), 'sin has 2 elements');
      refused(() => attn.rotaryTables({ rows: 2, rotaryWidth: 5 }), 'rotaryWidth is 5');
      refused(() => attn.rotaryTables({ rows: 2, rotaryWidth: 4, base: 0 }), 'base');
      refused(() => attn.rotaryTables({ rows: 2, rotaryWidth: 4, dtype: 'f16' }), 'dtype is "f16"');
    });
  });
}
