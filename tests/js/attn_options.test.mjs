// SPDX-License-Identifier: Apache-2.0
// Every object that a function takes: no other names, nothing in its place, true and false only.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAttnError, modules, noise } from './support.mjs';

const refused = (call, ...texts) => assertAttnError(call, 'invalid-argument', ...texts);
const notBooleans = [
  [1, '1'],
  [0, '0'],
  ['true', '"true"'],
  [null, 'null'],
  [{}, 'Object'],
  [[], 'Array'],
];
const notObjects = [
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  ['x', '"x"'],
  [[], 'Array'],
  [() => {}, 'Function'],
];

for (const [variant, attn] of modules) {
  describe(`attn ${variant}: objects of options`, () => {
    const shape = { queries: 3, keys: 3, width: 4 };
    const inputs = { q: noise(12, 1), k: noise(12, 2), v: noise(12, 3) };
    const a = { ...inputs, shape };
    const { o, lse } = attn.attentionForward(a);
    const [model] = attn.costs.models();
    const experiment = (use) => {
      const made = attn.scaling.create({ seed: 0, trials: 2, keys: 4 });
      try {
        return use(made);
      } finally {
        made.free();
      }
    };
    const measure = (rule) =>
      experiment((made) => {
        made.step(2, []);
        return made.measure(rule);
      });
    // What each function takes, a call with it, and how messages call an unknown name.
    const functions = {
      attentionForward: { good: a, call: (x) => attn.attentionForward(x) },
      attentionWeights: { good: a, call: (x) => attn.attentionWeights(x) },
      attentionBackward: {
        good: { ...a, o, lse, dO: o },
        call: (x) => attn.attentionBackward(x),
      },
      softmaxRows: {
        good: { x: inputs.q, rows: 3, columns: 4 },
        call: (x) => attn.softmaxRows(x),
      },
      softLookup: { good: { ...inputs, ...shape }, call: (x) => attn.softLookup(x) },
      'scaling.create': {
        good: { seed: 0, trials: 2, keys: 4 },
        call: (x) => attn.scaling.create(x).free(),
      },
      shape: {
        good: shape,
        call: (x) => attn.attentionForward({ ...a, shape: x }),
        path: 'shape.',
      },
      model: { good: model, call: (x) => attn.costs.ofModel(x), path: 'model.' },
      'costs.at': { good: { n: 4 }, call: (x) => attn.costs.at(model, x) },
      'rules[0]': {
        good: { divisor: 'd' },
        call: (x) => experiment((made) => made.step(2, [x])),
        path: 'rules[0].',
      },
    };
    for (const [name, { good, call, path = '' }] of Object.entries(functions)) {
      test(`${name}: an unknown name, and no object at all`, () => {
        call(good);
        refused(() => call({ ...good, casual: true }), `${path}casual is unknown`, name);
        refused(() => call({ ...good, toString: 1 }), `${path}toString is unknown`);
        const [known] = Object.keys(good);
        refused(() => call({ ...good, casual: 1 }), known);
        for (const [value, shown] of notObjects) {
          refused(() => call(value), name, `is ${shown}, needed is an object`);
        }
      });
    }

    test('an empty object: the first thing that is missing', () => {
      refused(() => attn.attentionForward({}), 'shape is undefined', 'queries, keys, width');
      refused(() => attn.softmaxRows({}), 'rows is undefined');
      refused(() => attn.costs.ofModel({}), 'model.layers is undefined');
    });

    test('rules and lengths', () => {
      refused(() => measure('bad'), 'rule is "bad"');
      refused(() => measure({ kind: 'zzz' }), 'rule.kind is unknown', 'divisor');
      for (const value of [undefined, null, 'bad', {}]) {
        refused(() => experiment((made) => made.step(2, value)), 'rules is', 'an array');
      }
      for (const value of [null, 5, 'x']) {
        refused(() => attn.costs.table(model, value), 'lengths is', 'an array');
      }
    });

    test('rules that are refused draw nothing', () => {
      const [after] = experiment((made) => {
        refused(() => made.step(2, ['bad']), 'rules[0]');
        return made.step(2, [{}]);
      });
      assert.deepEqual(
        after,
        experiment((made) => made.step(2, [{}])[0]),
      );
    });

    test('true and false', () => {
      const calls = {
        causal: [
          (causal) => attn.attentionForward({ ...a, causal }),
          (causal) => attn.attentionWeights({ ...a, causal }),
          (causal) => attn.attentionBackward({ ...a, o, lse, dO: o, causal }),
          (causal) => attn.softLookup({ ...inputs, ...shape, causal }),
          (causal) => attn.costs.at(model, { n: 4, causal }),
        ],
        'rule.qkNorm': [(qkNorm) => measure({ qkNorm })],
      };
      for (const [name, list] of Object.entries(calls)) {
        for (const call of list) {
          for (const [value, shown] of notBooleans) {
            refused(() => call(value), `${name} is ${shown}, needed is true or false`);
          }
          assert.deepEqual(call(undefined), call(false));
          assert.notDeepEqual(call(true), call(false));
        }
      }
    });
  });
}
