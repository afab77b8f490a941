// SPDX-License-Identifier: Apache-2.0
// What `make goals` says about rows that hold, fall short, are void or are not there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionModel } from '../../bench/peers/onnx_model.mjs';
import { goals, shapes } from '../../bench/goals/list.mjs';
import { outcomes, Rows, table } from '../../bench/goals/measured.mjs';
import { median, medianRatio } from '../../bench/script.mjs';

const peak = (name) => (rows) => 100 * rows.get(name).peak_fraction;
const goal = (more) => ({
  part: 'native',
  what: 'forward',
  unit: '% of the peak',
  must: 80,
  aim: 90,
  cases: [
    ['width 64', peak('forward/64/W')],
    ['width 128', peak('forward/128/W/threads:2')],
  ],
  ...more,
});
const rows = (a, b) =>
  new Rows(
    [
      { name: 'forward/64/highway:AVX3', peak_fraction: a },
      { name: 'forward/128/highway:AVX3/threads:2', peak_fraction: b },
    ],
    { W: 'highway:AVX3' },
  );
const outcome = (part, more) => outcomes([goal(more)], new Map([['native', part]]))[0];

test('a goal is as good as its least case', () => {
  const { least, where, of } = outcome({ rows: rows(0.95, 0.84) });
  assert.equal(where, 'width 128');
  assert.equal(of, 2);
  assert.ok(Math.abs(least - 84) < 1e-12);
});

test('aim, holds, short by how much', () => {
  assert.equal(outcome({ rows: rows(0.9, 0.95) }).verdict, 'aim');
  assert.equal(outcome({ rows: rows(0.9, 0.8) }).verdict, 'holds');
  assert.equal(outcome({ rows: rows(0.9, 0.775) }).verdict, 'short by 2.5');
  assert.equal(outcome({ rows: rows(0.9, 0.95) }, { aim: null }).verdict, 'holds');
});

test('what is void, missing or no number is no figure', () => {
  const void_ = new Rows([{ name: 'forward/64/W', error_occurred: true, error_message: 'x' }]);
  assert.match(outcome({ rows: void_ }).error, /"forward\/64\/W" is void/);
  assert.match(outcome({ rows: new Rows([]) }).error, /no row "forward\/64\/W" was measured/);
  assert.match(outcome({ rows: rows(0.9, NaN) }).error, /width 128: NaN/);
  assert.match(outcome({ rows: rows(0.9, undefined) }).error, /width 128: NaN/);
  const differs = new Rows([{ name: 'forward/64/W', ok: false, peak_fraction: 1 }]);
  assert.match(outcome({ rows: differs }).error, /is void/);
  const absent = outcome({ missing: 'no PyTorch' });
  assert.equal(absent.missing, 'no PyTorch');
  assert.equal(absent.least, undefined);
});

test('the table names all three', () => {
  const text = table([
    outcome({ rows: rows(0.9, 0.775) }),
    outcome({ rows: new Rows([]) }),
    outcome({ missing: 'no PyTorch' }),
  ]);
  const lines = text.split('\n');
  assert.equal(lines.length, 5);
  assert.ok(lines.every((line) => line.length === lines[0].length));
  assert.match(lines[2], /80 % .* 90 % .* 77\.5 % .* 2: width 128 .* short by 2\.5/);
  assert.match(lines[3], /void: no row/);
  assert.match(lines[4], /not measured: no PyTorch/);
});

test('every goal has cases, a bound and, where it aims, a higher aim', () => {
  assert.ok(goals.length >= 25);
  for (const { what, must, aim, cases } of goals) {
    assert.ok(cases.length > 0 && must > 0, what);
    assert.ok(aim === null || aim > must, what);
  }
});

// A shape that no goal reads is time spent for nothing; one that is not asked for voids its goal.
test('goals read what their parts are asked to measure, and nothing else', () => {
  for (const [part, wanted] of Object.entries({
    decode: shapes.decode,
    PyTorch: shapes.PyTorch,
    'onnxruntime-web': shapes['onnxruntime-web'],
    native: shapes.attention,
    bf16: shapes.attention,
    threads: shapes.attention,
  })) {
    const read = new Set();
    const rows = {
      get(name) {
        read.add(name.replace(/^attention_\w+\//, '').split('/')[0]);
        return {};
      },
    };
    for (const goal of goals) {
      if (goal.part === part) goal.cases.forEach(([, value]) => value(rows));
    }
    assert.deepEqual([...read].sort(), [...wanted].sort(), part);
  }
});

test('medians leave their times as they are, and a ratio is of neighbours in time', () => {
  const times = [9, 1, 4];
  assert.equal(median(times), 4);
  assert.deepEqual(times, [9, 1, 4]);
  assert.equal(medianRatio([9, 1, 4], [3, 1, 1]), 3);
});

// Lengths of nested fields above 127 take two bytes: a width of 64 heads has both kinds.
test('the ONNX model is well-formed: its fields end where their lengths say', () => {
  const bytes = attentionModel(64, 128, true);
  const read = (at) => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      value += (bytes[at] & 127) * shift;
      if (bytes[at++] < 128) return [value, at];
    }
  };
  const fields = (begin, end) => {
    const found = [];
    for (let at = begin; at < end;) {
      const [key, afterKey] = read(at);
      const [value, next] = read(afterKey);
      const isBytes = key % 8 === 2;
      found.push([key >> 3, value, next]);
      at = isBytes ? next + value : next;
      assert.ok(at <= end);
    }
    return found;
  };
  const model = fields(0, bytes.length);
  assert.deepEqual(
    model.map(([number]) => number),
    [1, 7, 8, 8],
  );
  const [, length, begin] = model[1];
  assert.ok(length > 127);
  const graph = fields(begin, begin + length);
  assert.deepEqual(
    graph.map(([number]) => number),
    [1, 2, 11, 11, 11, 12],
  );
  const text = new TextDecoder().decode(bytes);
  for (const name of ['MultiHeadAttention', 'num_heads', 'unidirectional', 'com.microsoft']) {
    assert.ok(text.includes(name), name);
  }
});
