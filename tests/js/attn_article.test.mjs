// SPDX-License-Identifier: Apache-2.0
// The article's numbers, as the page computes them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertNear, modules } from './support.mjs';

for (const [variant, attn] of modules) {
  describe(`attn ${variant}: the article`, () => {
    test("draws NumPy's numbers", () => {
      const zero = attn.randomGenerator(0);
      assert.deepEqual(
        [...zero.standardNormal(5)],
        [
          0.1257302210933933, -0.1321048632913019, 0.6404226504432821, 0.10490011715303971,
          -0.535669373161111,
        ],
      );
      zero.free();
      const other = attn.randomGenerator(12345n);
      assert.deepEqual(
        [...other.standardNormal(3), ...other.random(2)],
        [
          -1.4238250364546312, 1.2637284581291104, -0.8706617379590857, 0.6762546707509746,
          0.391109550601909,
        ],
      );
      other.free();
    });

    test('Step 2, digit by digit, in pieces', () => {
      const experiment = attn.scaling.create({ seed: 0, trials: 500, keys: 1024 });
      const published = [
        [16, ['3.99', '0.420', '2.45', '1'], ['1.00', '0.017', '6.43', '0']],
        [64, ['8.04', '0.702', '0.93', '9'], ['1.00', '0.016', '6.43', '0']],
        [128, ['11.38', '0.817', '0.53', '23'], ['1.01', '0.017', '6.43', '0']],
        [256, ['16.02', '0.861', '0.37', '39'], ['1.00', '0.017', '6.43', '0']],
      ];
      for (const [d, ...rows] of published) {
        experiment.begin(d);
        const left = [];
        while (left.at(-1) !== 0) left.push(experiment.advance(200));
        assert.deepEqual(left, [300, 100, 0]);
        for (const [i, divisor] of ['one', 'sqrt_d'].entries()) {
          const row = experiment.measure({ divisor });
          assert.equal(row.d, d);
          // The article prints 0.702 for 0.70150679: NumPy's own sum in another order gives the same.
          assert.deepEqual(
            [
              row.spread.toFixed(2),
              row.top.toFixed(3),
              row.entropy.toFixed(2),
              (100 * row.saturated).toFixed(0),
            ],
            rows[i],
            `d = ${d}, ${divisor}`,
          );
          assertNear([row.effective], [Math.exp(row.entropy)], 1e-12);
          assert.equal(row.histogram.length, 64);
          assert.equal(
            row.histogram.reduce((sum, count) => sum + count, 0),
            500 * 1024,
          );
        }
      }
      experiment.free();
    });

    test('every computed figure agrees', () => {
      const figures = attn.report();
      assert.equal(new Set(figures.map(({ id }) => id)).size, figures.length);
      const differing = figures.filter(({ verdict }) => verdict === 'differs');
      assert.deepEqual(differing, []);
      const agreeing = figures.filter(({ verdict }) => verdict === 'agrees');
      assert.ok(agreeing.length >= 40, `${agreeing.length} figures`);
      for (const { id, step, published, computed, leaves } of agreeing) {
        assert.ok(step >= 1 && step <= 8, id);
        assert.ok(leaves.length > 0 && leaves.every(({ agrees }) => agrees), id);
        assert.equal(Array.isArray(computed), Array.isArray(published), id);
      }
      for (const { id, verdict, computed, leaves } of figures) {
        if (verdict === 'agrees') continue;
        assert.deepEqual([computed, leaves], [null, []], id);
      }
      const weights = figures.find(({ id }) => id === 's1.weights_token3');
      assert.deepEqual(weights.published, ['0.665', '0.090', '0.245']);
      const sum = Math.exp(2) + 1 + Math.exp(1);
      assertNear(weights.computed, [Math.exp(2) / sum, 1 / sum, Math.exp(1) / sum], 1e-15);
    });

    test('Steps 1 and 3 agree on every backend that has f64', () => {
      for (const { name, f64 } of attn.backends()) {
        if (!f64) continue;
        assert.ok(
          attn.report(name).every(({ verdict }) => verdict !== 'differs'),
          name,
        );
      }
    });

    test('costs', () => {
      const models = attn.costs.models();
      const llama = models.find(({ id }) => id === 'llama-3.1-8b');
      assert.deepEqual(
        [llama.layers, llama.dModel, llama.heads, llama.kvHeads, llama.dHead],
        [32, 4096, 32, 8, 128],
      );
      const costs = attn.costs.ofModel(llama);
      assert.equal(costs.projectionWeights, 41943040);
      assert.equal(costs.crossoverToken, 5120);
      assert.equal(costs.crossoverPrompt, 10240);
      assert.equal(costs.circuit.rankBound, 128);
      const table = attn.costs.table(llama, [0, 1024, 131072]);
      assert.equal(table[1].headFlops, 4 * 1024 ** 2 * 128);
      assert.equal(table[2].headFlops / table[2].headFlopsLinear, 1024);
      assert.equal(attn.costs.table(llama).length, 8);
      const at = attn.costs.at(llama, { n: 10, causal: true });
      assert.deepEqual(
        [at.pairs, at.softmaxFlops, at.cacheBytes],
        [55, 4 * 55 * 128, 10 * 2048 * 32 * 2],
      );
      // A model of one's own: defaults fill the rest.
      const own = attn.costs.ofModel({ layers: 2, dModel: 64, heads: 4, dHead: 16 });
      assert.deepEqual([own.cacheNumbers, own.cacheSaving], [128, 1]);
    });
  });
}
