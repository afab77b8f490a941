// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNear, attentionByDefinition, modules, noise } from './support.mjs';

for (const [variant, attn] of modules) {
  test(`${variant}: 10,000 calls leave the heap as it was`, () => {
    const a = {
      q: noise(12, 1),
      k: noise(12, 2),
      v: noise(12, 3),
      shape: { queries: 3, keys: 3, width: 4 },
    };
    const inputs = { q: a.q, k: a.k, v: a.v };
    const row = noise(8, 4, Float64Array);
    const [model] = attn.costs.models();
    const failing = [
      () => attn.attentionForward({ ...a, backend: 'none' }),
      () => attn.attentionForward({ ...a, v: noise(1, 1) }),
      () => attn.softmaxFiniteDifference(row, 99, 1),
      () => attn.multiplyJacobian(row, row.subarray(1)),
    ];
    const round = (i) => {
      const forward = attn.attentionForward(a);
      attn.attentionWeights(a);
      attn.attentionBackward({ ...a, ...forward, dO: forward.o });
      attn.softLookup({ ...inputs, queries: 3, keys: 3, width: 4 });
      attn.softmaxSensitivity(row, 1, 1e-6);
      attn.costs.ofModel(model);
      const generator = attn.randomGenerator(i);
      generator.standardNormal(4);
      generator.free();
      const experiment = attn.scaling.create({ seed: i, trials: 2, keys: 4 });
      experiment.step(2, [{}]);
      experiment.free();
      assert.throws(failing[i % failing.length], { name: 'AttnError' });
    };
    // The first round builds tables that stay (ziggurat, backends).
    for (let i = 0; i < failing.length; ++i) round(i);
    const before = { heap: attn.heapBytes, memory: attn.memoryBytes };
    const callsARound = 9;
    for (let i = 0; i < 10000 / callsARound; ++i) round(i);
    assert.deepEqual({ heap: attn.heapBytes, memory: attn.memoryBytes }, before);
  });

  test(`${variant}: the heap count sees what is held`, () => {
    const before = attn.heapBytes;
    const generator = attn.randomGenerator(0);
    assert.ok(attn.heapBytes > before);
    generator.free();
    assert.equal(attn.heapBytes, before);
  });

  test(`${variant}: results and handles outlive the growth of the memory`, () => {
    const generator = attn.randomGenerator(5);
    const first = generator.standardNormal(3);
    const kept = [...first];
    const before = attn.memoryBytes;
    const rows = Math.ceil(before / 1024);
    const x = noise(rows * 512, 9);
    const { p, lse } = attn.softmaxRows({ x, rows, columns: 512 });
    assert.ok(attn.memoryBytes > before, 'the call was to need more than the memory there was');
    assert.deepEqual([...first], kept);
    const last = x.subarray(x.length - 512);
    const sum = last.reduce((total, value) => total + Math.exp(value), 0);
    assertNear(p.subarray(p.length - 1), [Math.exp(last[511]) / sum], 2e-6);
    assertNear(lse.subarray(rows - 1), [Math.log(sum)], 2e-6);
    const again = attn.randomGenerator(5);
    assert.deepEqual([...first, ...generator.standardNormal(3)], [...again.standardNormal(6)]);
    generator.free();
    again.free();
  });

  test(`${variant}: views into a larger buffer go in by their own part`, () => {
    const all = noise(40, 12);
    const q = all.subarray(1, 9);
    const k = all.subarray(9, 25);
    const v = all.subarray(25, 37);
    const size = { queries: 2, keys: 4, width: 4, valueWidth: 3 };
    const { o } = attn.attentionForward({ q, k, v, shape: size });
    assertNear(o, attentionByDefinition({ q, k, v, ...size, scale: 0.5 }).o, 2e-6);
  });
}
