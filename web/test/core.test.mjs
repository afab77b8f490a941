// SPDX-License-Identifier: Apache-2.0
// What needs no browser: texts to numbers and back, states from strangers' text, history, and the package itself.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';

const dist = (name) => import(new URL(`../dist/${name}.js`, import.meta.url));

/** Numbers without luck: the same texts in every run (Marsaglia's xorshift32). */
function* random(seed) {
  for (let x = seed; ;) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    yield (x >>> 0) / 2 ** 32;
  }
}

describe('numbers', async () => {
  const { formatNumber, formatPercent, parseNumber, plainNumber, scientific } =
    await dist('core/format');

  test('formats', () => {
    assert.equal(formatNumber(0.0900306, 'en'), '0.090');
    assert.equal(formatNumber(1, 'en'), '1');
    assert.equal(formatNumber(1, 'en', 2, false), '1.00');
    assert.equal(formatNumber(0.5, 'de'), '0,500');
    assert.equal(formatNumber(-2.5, 'en', 1), '\u22122.5');
    assert.equal(formatNumber(-Infinity, 'en'), '\u2212\u221e');
    assert.equal(formatNumber(NaN, 'en'), 'NaN');
    assert.equal(formatNumber(3.4028234e38, 'en'), '3.40e38');
    assert.equal(formatNumber(1.2e-8, 'en'), '1.20e\u22128');
    assert.equal(formatNumber(0.25, 'not a language'), '0.250');
    assert.equal(plainNumber(1.9, 'en'), '1.9');
    assert.equal(scientific(1.23e-8, 'de'), '1,2e\u22128');
    assert.equal(formatPercent(0.548, 'en'), '55%');
    assert.equal(formatPercent(0.001, 'en'), '<1%');
    assert.equal(formatPercent(0, 'en'), '0%');
    assert.match(formatPercent(0.548, 'de'), /^55\s%$/);
  });

  test('reads what a person types, and nothing else', () => {
    for (const [text, value] of [
      [' 1,5 ', 1.5],
      ['\u22122', -2],
      ['+.5', 0.5],
      ['3.', 3],
      ['1e3', 1000],
    ]) {
      assert.equal(parseNumber(text), value, text);
    }
    for (const text of [
      '',
      ' ',
      'x',
      '1x',
      '1 2',
      '0x10',
      'Infinity',
      'NaN',
      '1e999',
      '--1',
      '1,2,3',
      '<b>',
    ]) {
      assert.equal(parseNumber(text), undefined, text);
    }
  });
});

describe('states', async () => {
  const { decodeFields, encodeFields, readFragment, writeFragment } = await dist('core/fragment');
  const lookup = await dist('lookup/state');
  const scaling = await dist('scaling/state');

  test('the fragment of one element leaves the others alone', () => {
    assert.equal(writeFragment('#a=1&b=2', 'b', '1;x=3,4'), '#a=1&b=1;x=3,4');
    assert.equal(writeFragment('#a=1&b=2', 'b', undefined), '#a=1');
    assert.equal(writeFragment('#b=2', 'b', undefined), '');
    const hostile = 'x&b=1#%<>"';
    assert.equal(readFragment(writeFragment('#c=0', 'a', hostile), 'a'), hostile);
    assert.equal(readFragment('#a=%E0%A4%A', 'a'), undefined);
  });

  test('a state survives the way through the fragment', () => {
    const next = random(7);
    const draw = () => lookup.entry((next.next().value - 0.5) * 2000);
    for (let i = 0; i < 200; ++i) {
      let state = lookup.withTokens(
        lookup.article,
        1 + Math.floor(next.next().value * lookup.kMaxTokens),
      );
      for (const name of ['q', 'k', 'v']) {
        for (let row = 0; row < state.q.length; ++row)
          state = lookup.withCell(state, name, row, row % 4, draw());
      }
      const text = encodeFields(lookup.toFields(state));
      assert.deepEqual(lookup.fromFields(decodeFields(text)), state);
    }
    assert.ok(lookup.isArticle(lookup.fromFields(decodeFields('1'))));
    assert.deepEqual(scaling.fromFields(decodeFields('1')), scaling.article);
  });

  test('any text becomes a state within the limits', () => {
    const next = random(99);
    const pick = (list) => list[Math.floor(next.next().value * list.length)];
    const names = [
      'n',
      'q',
      'k',
      'v',
      'i',
      'c',
      's',
      'h',
      'm',
      'd',
      'r',
      't',
      '__proto__',
      'constructor',
      '',
    ];
    const values = [
      '1e9',
      '-1',
      'NaN',
      'Infinity',
      '0x7',
      '999999999',
      '<img>',
      '',
      '1,2',
      ',,',
      '1e308,1e309',
      '5',
      '3',
    ];
    for (let i = 0; i < 3000; ++i) {
      const parts = Array.from(
        { length: Math.floor(next.next().value * 8) },
        () => `${pick(names)}=${pick(values)}`,
      );
      const fields = decodeFields(`${pick(['1', '1', '1', '2', ''])};${parts.join(';')}`);
      if (!fields) continue;
      const { q, k, v, query, lab } = lookup.fromFields(fields);
      for (const matrix of [q, k, v]) {
        assert.ok(matrix.length === q.length && q.length >= 1 && q.length <= lookup.kMaxTokens);
        assert.ok(matrix.every((row) => row.length === 4 && row.every((x) => Math.abs(x) <= 1000)));
      }
      assert.ok(query >= 0 && query < q.length && lab >= 0 && lab < q.length);
      const { d, rule, temperature, softcap } = scaling.fromFields(fields);
      assert.ok(Number.isInteger(d) && d >= 1 && d <= 512 && scaling.kRules.includes(rule));
      assert.ok(temperature >= 0.05 && temperature <= 4 && softcap >= 0.5 && softcap <= 60);
    }
    assert.equal(decodeFields(`1;q=${'1,'.repeat(1e6)}`), undefined);
  });
});

test('history: undo, redo, and a new branch', async () => {
  const { History } = await dist('core/history');
  const history = new History(0);
  history.commit(1);
  history.commit(2);
  assert.ok(history.undo() && history.undo() && !history.undo());
  assert.equal(history.state, 0);
  assert.ok(history.redo());
  history.commit(9);
  assert.equal(history.canRedo, false);
  assert.ok(history.undo());
  assert.equal(history.state, 1);
  for (let i = 0; i < 1000; ++i) history.commit(i);
  let steps = 0;
  while (history.undo()) ++steps;
  assert.equal(steps, 200, 'the past is kept, within bounds');
});

test('both languages have the same sentences, with the same gaps', async () => {
  const { common } = await dist('core/strings');
  const { lookupStrings } = await dist('lookup/strings');
  const { scalingStrings } = await dist('scaling/strings');
  const gaps = (text) => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();
  for (const { en, de } of [common, lookupStrings, scalingStrings]) {
    assert.deepEqual(Object.keys(de), Object.keys(en));
    for (const key of Object.keys(en)) assert.deepEqual(gaps(de[key]), gaps(en[key]), key);
  }
});

test('the manifest knows attributes, events, slots, parts and properties', async () => {
  const text = await readFile(new URL('../dist/custom-elements.json', import.meta.url), 'utf8');
  const { modules } = JSON.parse(text);
  assert.deepEqual(
    modules.map(({ declarations }) => declarations[0].tagName),
    ['attn-lookup', 'attn-scaling'],
  );
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  for (const { declarations } of modules) {
    const [element] = declarations;
    const documented = ['attributes', 'events', 'slots', 'cssParts', 'cssProperties'];
    for (const kind of documented) {
      assert.ok(element[kind].length > 0, kind);
      for (const { name } of element[kind]) {
        assert.ok(readme.includes(`\`${name}\``), `README.md does not name ${kind} ${name}`);
      }
    }
  }
});

test('the package: every entry exists, imports without a DOM, and only define has effects', async () => {
  const read = (name) => readFile(new URL(`../${name}`, import.meta.url), 'utf8');
  const { exports, sideEffects } = JSON.parse(await read('package.json'));
  for (const [name, entry] of Object.entries(exports)) {
    assert.equal(Object.keys(entry)[0], 'types', `${name}: types come first`);
    for (const file of Object.values(entry)) assert.ok((await read(file)).length > 0, file);
    await import(`attn-explainer${name.slice(1)}`);
    await import(`attn-explainer${name.slice(1)}`);
  }
  assert.ok(sideEffects.includes('./dist/define.js'));
  assert.ok(!sideEffects.includes('./dist/index.js'));
  assert.doesNotMatch(await read('dist/index.js'), /from '.*define/);
});
