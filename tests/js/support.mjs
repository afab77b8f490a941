// SPDX-License-Identifier: Apache-2.0
// What the tests of the npm package share: an oracle written from the definition, and comparisons.
import assert from 'node:assert/strict';
import { load, supportedVariants } from 'attn';

/** One entry a module that this engine runs. */
export const modules = await Promise.all(
  supportedVariants().map(async (variant) => [variant, await load({ variant })]),
);

/** Deterministic numbers in -1..1: a multiplicative congruential generator, Park and Miller 1988. */
export function noise(length, seed, Type = Float32Array) {
  let state = seed;
  return Type.from({ length }, () => {
    state = (state * 48271) % 2147483647;
    return (state / 2147483647) * 2 - 1;
  });
}

/** softmax(scale q k^T + mask) v of one head in f64, by the definition. */
export function attentionByDefinition({ q, k, v, queries, keys, width, valueWidth, scale, last }) {
  const o = new Float64Array(queries * valueWidth);
  const lse = new Float64Array(queries).fill(-Infinity);
  const weights = new Float64Array(queries * keys);
  for (let i = 0; i < queries; ++i) {
    const end = Math.max(0, Math.min(keys, last === undefined ? keys : last(i) + 1));
    const s = [];
    for (let j = 0; j < end; ++j) {
      let dot = 0;
      for (let c = 0; c < width; ++c) dot += q[i * width + c] * k[j * width + c];
      s.push(scale * dot);
    }
    if (end === 0) continue;
    const max = Math.max(...s);
    const sum = s.reduce((total, x) => total + Math.exp(x - max), 0);
    lse[i] = max + Math.log(sum);
    for (let j = 0; j < end; ++j) {
      const p = Math.exp(s[j] - max) / sum;
      weights[i * keys + j] = p;
      for (let c = 0; c < valueWidth; ++c) o[i * valueWidth + c] += p * v[j * valueWidth + c];
    }
  }
  return { o, lse, weights };
}

/** Largest error relative to the largest magnitude of what is wanted; infinities must be equal. */
export function relativeError(got, wanted) {
  assert.equal(got.length, wanted.length);
  let error = 0;
  let size = 0;
  for (let i = 0; i < got.length; ++i) {
    if (!Number.isFinite(wanted[i])) {
      assert.equal(got[i], wanted[i]);
      continue;
    }
    assert.ok(Number.isFinite(got[i]), `element ${i} is ${got[i]}, wanted is ${wanted[i]}`);
    error = Math.max(error, Math.abs(got[i] - wanted[i]));
    size = Math.max(size, Math.abs(wanted[i]));
  }
  return size === 0 ? error : error / size;
}

export function assertNear(got, wanted, tolerance, what = '') {
  const error = relativeError(got, wanted);
  assert.ok(error <= tolerance, `${what}: relative error ${error}, allowed is ${tolerance}`);
}

/** The call throws an AttnError with this code whose message has all these texts. */
export function assertAttnError(call, code, ...texts) {
  assert.throws(call, (error) => {
    assert.equal(error.name, 'AttnError', error.stack);
    assert.equal(error.code, code, error.message);
    for (const text of texts)
      assert.ok(error.message.includes(text), `"${error.message}" lacks "${text}"`);
    return true;
  });
}
