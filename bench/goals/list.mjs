// SPDX-License-Identifier: Apache-2.0
// The speed goals: what is measured for each, what must hold and what is aimed at. A goal's value is
// the least of its cases, so that one row says it for several shapes.
const causal = (shapes) => shapes.map((shape) => `${shape}c`);
const d64 = ['1x8x1024x64'];
const d128 = ['1x8x1024x128'];
const plain = [...d64, ...d128];
const all = [...plain, ...causal(plain)];
const cached = [4096, 32768];
const decoded = (keys) => `1x32x8x1:${keys}x128`;

// PyTorch's and onnxruntime-web's shapes have no batch.
const long = ['8x512x64', '8x1024x64', '8x1024x128', '4x4096x128'];
const short = ['8x17x64', '8x100x64', '8x200x64', '8x200x40', '8x200x80', '8x200x96'];
const inPages = ['8x512x64', '8x1024x64', '8x1024x128'];
const peerDecoded = (keys) => `decode:32x8x${keys}x128`;

// What each part is asked to measure.
export const shapes = {
  attention: all,
  decode: cached.map(decoded),
  PyTorch: [long, causal(long), short, causal(short), cached.map(peerDecoded)].flat(),
  'onnxruntime-web': [inPages, causal(inPages)].flat(),
};

// Values of one row or of two. Rows are found by name; W and X are the widest of each lowering.
const peak = (name) => (rows) => 100 * rows.get(name).peak_fraction;
const readRate = (name) => (rows) => 100 * rows.get(name).bandwidth_fraction;
const ofPeaks = (name, other) => (rows) => peak(name)(rows) / peak(other)(rows);
const faster = (name, than) => (rows) => rows.get(than).real_time / rows.get(name).real_time;
const ratio = (name) => (rows) => rows.get(name).ratio;

const forward = (shape, rest) => `attention_forward/${shape}/f32/flash/${rest}`;
const backward = (shape, rest) => `attention_backward/${shape}/f32/flash/${rest}`;
const bf16 = (shape) => `attention_forward/${shape}/bf16/flash/W`;
const decode = (keys, dtype) => `attention_forward/${decoded(keys)}/${dtype}/decode/W`;

// Cases: [[where, value of the part's rows], ...]
const each = (shapes, value) => shapes.map((shape) => [shape, value(shape)]);
const eachCache = (value) => cached.map((keys) => [`${keys} keys`, value(keys)]);
const both = (value) =>
  [forward, backward].flatMap((op) =>
    all.map((shape) => [`${shape} ${op === forward ? 'forward' : 'backward'}`, value(op, shape)]),
  );
const bothRatios = (shapes) =>
  shapes.flatMap((shape) =>
    ['forward', 'backward'].map((op) => [`${shape} ${op}`, ratio(`${shape}/${op}`)]),
  );
const peaks = (op, shapes, backend = 'W') => each(shapes, (shape) => peak(op(shape, backend)));
const halfPeaks = (shapes) => each(shapes, (shape) => (rows) => peak(bf16(shape))(rows) / 2);
const ratios = (op, shapes) => each(shapes, (shape) => ratio(`${shape}/${op}`));

const decodeRatios = eachCache((keys) => ratio(`${peerDecoded(keys)}/decode`));

// rows: [what, must, aim or null, cases]
const goalsOf = (part, unit, rows) =>
  rows.map(([what, must, aim, cases]) => ({ part, what, unit, must, aim, cases }));

const ofPeak = '% of the peak';
const ofReads = '% of the read rate';
const twoThreads = ['8x1024x64', '8x1024x128', '8x2048x128'];

export const goals = [
  goalsOf('native', ofPeak, [
    ['forward, width 64', 82, 87, peaks(forward, d64)],
    ['forward, width 128', 86, 91, peaks(forward, d128)],
    ['forward, causal, width 64', 76, 82, peaks(forward, causal(d64))],
    ['forward, causal, width 128', 80, 86, peaks(forward, causal(d128))],
    ['backward, width 64', 85, 90, peaks(backward, d64)],
    ['backward, width 128', 86, 91, peaks(backward, d128)],
    ['backward, causal', 80, 85, peaks(backward, causal(plain))],
    ['forward on AVX2', 82, 88, peaks(forward, plain, 'highway:AVX2')],
    ['backward on AVX2', 85, 91, peaks(backward, plain, 'highway:AVX2')],
  ]),
  // Each of its own peak, so drift between two rows does not count.
  goalsOf('native', 'x', [
    ['xsimd beside Highway', 0.9, 1, both((op, at) => ofPeaks(op(at, 'X'), op(at, 'W')))],
  ]),
  goalsOf('bf16', '% of twice the f32 peak', [
    ['bf16 forward, width 64', 70, 80, halfPeaks(d64)],
    ['bf16 forward, width 128', 78, 86, halfPeaks(d128)],
    ['bf16 forward, causal', 65, 75, halfPeaks(causal(plain))],
  ]),
  goalsOf('bf16', 'x', [
    ['bf16 beside f32, forward', 1.6, null, each(all, (at) => ofPeaks(bf16(at), forward(at, 'W')))],
  ]),
  goalsOf('decode', ofReads, [
    ['grouped decode, f32', 55, 80, eachCache((keys) => readRate(decode(keys, 'f32')))],
  ]),
  goalsOf('decode', 'x', [
    [
      'grouped decode, bf16 beside f32',
      1.6,
      null,
      eachCache((keys) => faster(decode(keys, 'bf16'), decode(keys, 'f32'))),
    ],
  ]),
  goalsOf('product', ofPeak, [
    ['matrix product of 1024', 85, null, [['f32', peak('matmul/1x1x1024x1024/f32/W')]]],
  ]),
  goalsOf('rows', ofReads, [
    ['RMS norm', 80, null, [['8192 rows of 4096', readRate('rms_norm/1x1x8192x4096/f32/W')]]],
    [
      'rotary embeddings',
      80,
      null,
      [['32 heads x 8192 x 128', readRate('rotary/1x32x8192x128/f32/W')]],
    ],
  ]),
  goalsOf('threads', 'x', [
    ['two threads', 1.9, 1.97, both((op, at) => faster(op(at, 'W/threads:2'), op(at, 'W')))],
  ]),
  goalsOf('simd128', ofPeak, [['Node, simd128, forward', 80, 90, peaks(forward, plain)]]),
  goalsOf('relaxed', ofPeak, [['Node, relaxed SIMD, forward', 75, 86, peaks(forward, plain)]]),
  goalsOf('wasm threads', 'x', [
    ['Node, two threads', 1.8, null, bothRatios([...twoThreads, ...causal(twoThreads)])],
  ]),
  goalsOf('PyTorch', 'x', [
    ['beside PyTorch, forward', 1.2, 1.35, ratios('forward', long)],
    ['beside PyTorch, forward, causal', 1.6, 2, ratios('forward', causal(long))],
    ['beside PyTorch, backward', 1.15, null, ratios('backward', long)],
    ['beside PyTorch, backward, causal', 1.4, null, ratios('backward', causal(long))],
    ['beside PyTorch, short and odd shapes', 1, null, bothRatios([...short, ...causal(short)])],
    ['beside PyTorch, grouped decode', 2, null, decodeRatios],
  ]),
  goalsOf('onnxruntime-web', 'x', [
    ['beside onnxruntime-web', 1.6, 1.9, each(inPages, ratio)],
    ['beside onnxruntime-web, causal', 3, 3.7, each(causal(inPages), ratio)],
  ]),
].flat();
