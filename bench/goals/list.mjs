// SPDX-License-Identifier: Apache-2.0
// The speed goals: what is measured for each, what must hold and what is aimed at. A goal's value is
// the least of its cases, so that one row says it for several shapes.
const widths = [64, 128];
const all = widths.flatMap((d) => [`1x8x1024x${d}`, `1x8x1024x${d}c`]);
const long = ['8x512x64', '8x1024x64', '8x1024x128', '4x4096x128'];
const short = ['8x17x64', '8x100x64', '8x200x64', '8x200x40', '8x200x80', '8x200x96'];
const causal = (shapes) => shapes.map((shape) => `${shape}c`);
const plain = (d) => [`1x8x1024x${d}`];

// Values of one row or of two. A part's rows are found by name; W is the widest backend of Highway.
const peak = (name) => (rows) => 100 * rows.get(name).peak_fraction;
const readRate = (name) => (rows) => 100 * rows.get(name).bandwidth_fraction;
const ofPeaks = (name, other) => (rows) => peak(name)(rows) / peak(other)(rows);
const faster = (name, than) => (rows) => rows.get(than).real_time / rows.get(name).real_time;
const ratio = (name) => (rows) => rows.get(name).ratio;

const forward = (shape, rest) => `attention_forward/${shape}/f32/flash/${rest}`;
const backward = (shape, rest) => `attention_backward/${shape}/f32/flash/${rest}`;
const decode = (keys, dtype) => `attention_forward/1x32x8x1:${keys}x128/${dtype}/decode/W`;
const halved = (name) => (rows) => peak(name)(rows) / 2;

// cases: [[where, value of the part's rows], ...]
const goal = (part, what, unit, must, aim, cases) => ({ part, what, unit, must, aim, cases });
const each = (shapes, value) => shapes.map((shape) => [shape, value(shape)]);
const both = (value) => [
  ...all.map((shape) => [`${shape} forward`, value(forward, shape)]),
  ...all.map((shape) => [`${shape} backward`, value(backward, shape)]),
];

const ofPeak = '% of the peak';
const ofReads = '% of the read rate';

export const goals = [
  ...[
    ['forward, width 64', forward, plain(64), 82, 87],
    ['forward, width 128', forward, plain(128), 86, 91],
    ['forward, causal, width 64', forward, causal(plain(64)), 76, 82],
    ['forward, causal, width 128', forward, causal(plain(128)), 80, 86],
    ['backward, width 64', backward, plain(64), 85, 90],
    ['backward, width 128', backward, plain(128), 86, 91],
    ['backward, causal', backward, causal(widths.flatMap(plain)), 80, 85],
  ].map(([what, op, shapes, must, aim]) =>
    goal(
      'native',
      what,
      ofPeak,
      must,
      aim,
      each(shapes, (shape) => peak(op(shape, 'W'))),
    ),
  ),
  ...[
    ['forward on AVX2', forward, 82, 88],
    ['backward on AVX2', backward, 85, 91],
  ].map(([what, op, must, aim]) =>
    goal('native', what, ofPeak, must, aim, [
      ...each(widths.flatMap(plain), (shape) => peak(op(shape, 'highway:AVX2'))),
    ]),
  ),
  // Where its own peak is reached in equal part, so drift between two rows does not count.
  goal('native', 'xsimd beside Highway', 'x', 0.9, 1, [
    ...both((op, shape) => ofPeaks(op(shape, 'X'), op(shape, 'W'))),
  ]),
  ...[
    ['bf16 forward, width 64', plain(64), 70, 80],
    ['bf16 forward, width 128', plain(128), 78, 86],
    ['bf16 forward, causal', causal(widths.flatMap(plain)), 65, 75],
  ].map(([what, shapes, must, aim]) =>
    goal('bf16', what, '% of twice the f32 peak', must, aim, [
      ...each(shapes, (shape) => halved(`attention_forward/${shape}/bf16/flash/W`)),
    ]),
  ),
  goal('bf16', 'bf16 beside f32, forward', 'x', 1.6, undefined, [
    ...each(all, (shape) =>
      ofPeaks(`attention_forward/${shape}/bf16/flash/W`, forward(shape, 'W')),
    ),
  ]),
  goal('decode', 'grouped decode, f32', ofReads, 55, 80, [
    ...each([4096, 32768], (keys) => readRate(decode(keys, 'f32'))).map(([n, v]) => [
      `${n} keys`,
      v,
    ]),
  ]),
  goal('decode', 'grouped decode, bf16 beside f32', 'x', 1.6, undefined, [
    ...each([4096, 32768], (keys) => faster(decode(keys, 'bf16'), decode(keys, 'f32'))).map(
      ([n, v]) => [`${n} keys`, v],
    ),
  ]),
  goal('product', 'matrix product of 1024', ofPeak, 85, undefined, [
    ['f32', peak('matmul/1x1x1024x1024/f32/W')],
  ]),
  goal('rows', 'RMS norm', ofReads, 80, undefined, [
    ['8192 rows of 4096', readRate('rms_norm/1x1x8192x4096/f32/W')],
  ]),
  goal('rows', 'rotary embeddings', ofReads, 80, undefined, [
    ['32 heads x 8192 x 128', readRate('rotary/1x32x8192x128/f32/W')],
  ]),
  goal('threads', 'two threads', 'x', 1.9, 1.97, [
    ...both((op, shape) => faster(op(shape, 'W/threads:2'), op(shape, 'W'))),
  ]),
  goal('simd128', 'Node, simd128, forward', ofPeak, 80, 90, [
    ...each(widths.flatMap(plain), (shape) => peak(forward(shape, 'W'))),
  ]),
  goal('relaxed', 'Node, relaxed SIMD, forward', ofPeak, 75, 86, [
    ...each(widths.flatMap(plain), (shape) => peak(forward(shape, 'W'))),
  ]),
  goal('wasm threads', 'Node, two threads', 'x', 1.8, undefined, [
    ...['1024x64', '1024x128', '2048x128'].flatMap((size) =>
      ['', 'c'].flatMap((mask) =>
        ['forward', 'backward'].map((op) => [
          `8x${size}${mask} ${op}`,
          ratio(`8x${size}${mask}/${op}`),
        ]),
      ),
    ),
  ]),
  ...[
    ['forward', 'forward', long, 1.2, 1.35],
    ['forward, causal', 'forward', causal(long), 1.6, 2],
    ['backward', 'backward', long, 1.15, undefined],
    ['backward, causal', 'backward', causal(long), 1.4, undefined],
  ].map(([what, op, shapes, must, aim]) =>
    goal('PyTorch', `beside PyTorch, ${what}`, 'x', must, aim, [
      ...each(shapes, (shape) => ratio(`${shape}/${op}`)),
    ]),
  ),
  goal('PyTorch', 'beside PyTorch, short and odd shapes', 'x', 1, undefined, [
    ...[...short, ...causal(short)].flatMap((shape) =>
      ['forward', 'backward'].map((op) => [`${shape} ${op}`, ratio(`${shape}/${op}`)]),
    ),
  ]),
  goal('PyTorch', 'beside PyTorch, grouped decode', 'x', 2, undefined, [
    ...each([4096, 32768], (keys) => ratio(`decode:32x8x${keys}x128/decode`)).map(([n, v]) => [
      `${n} keys`,
      v,
    ]),
  ]),
  goal('onnxruntime-web', 'beside onnxruntime-web', 'x', 1.6, 1.9, [
    ...each(['8x512x64', '8x1024x64', '8x1024x128'], (shape) => ratio(shape)),
  ]),
  goal('onnxruntime-web', 'beside onnxruntime-web, causal', 'x', 3, 3.7, [
    ...each(causal(['8x512x64', '8x1024x64', '8x1024x128']), (shape) => ratio(shape)),
  ]),
];
