// SPDX-License-Identifier: Apache-2.0
// node bench/peers/onnxruntime_web.mjs [--seconds S] [--json] [--list] [SHAPE...]: attention forward of
// onnxruntime-web and ours, f32, one thread, on the same numbers, in turns. SHAPE is HEADSxLENGTHxWIDTH,
// with a c at its end for causal. bench/peers/README.md says how a figure comes about.
// Exit code: 0; 1 when results differ; 2 for bad usage; 3 where onnxruntime-web is not installed.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import process from 'node:process';
import { load } from 'attn';
import { commandLine, fail, median, medianRatio, secondsOf } from '../script.mjs';
import { attentionModel } from './onnx_model.mjs';

const kShapes = ['8x512x64', '8x1024x64', '8x1024x128'].flatMap((shape) => [shape, `${shape}c`]);
const kLeastSamples = 7;

function parseShape(text) {
  const match = /^([1-9]\d*)x([1-9]\d*)x([1-9]\d*)(c?)$/.exec(text);
  if (!match) fail(`"${text}" is not like 8x1024x64c`);
  const [heads, n, d] = match.slice(1, 4).map(Number);
  return { text, heads, n, d, causal: match[4] === 'c' };
}

async function runtime() {
  const folder = process.env.PEER_NODE_MODULES;
  const from = folder ? pathToFileURL(resolve(folder, 'any.js')) : import.meta.url;
  let file;
  try {
    file = createRequire(from).resolve('onnxruntime-web');
  } catch {
    fail('no onnxruntime-web; PEER_NODE_MODULES names the folder where it is installed', 3);
  }
  const module = await import(pathToFileURL(file));
  const ort = module.default ?? module;
  ort.env.wasm.numThreads = 1;
  return ort;
}

const { values, positionals } = commandLine({
  seconds: { type: 'string' },
  json: { type: 'boolean' },
  list: { type: 'boolean' },
});
const seconds = secondsOf(values.seconds);
const shapes = (positionals.length > 0 ? positionals : kShapes).map(parseShape);
const ort = await runtime();
if (values.list) {
  console.log(shapes.map(({ text }) => text).join('\n'));
  process.exit(0);
}

const attn = await load({ full: true });
const random = attn.randomGenerator(0);
const context = {
  onnxruntime_web: ort.env.versions.web ?? ort.env.versions.common,
  node: process.versions.node,
  ours: attn.variant,
};
if (!values.json) {
  console.log(
    `onnxruntime-web ${context.onnxruntime_web}, ours ${context.ours}, Node ${context.node}`,
  );
  console.log('shape           ours  onnxruntime  GFLOP/s    ratio  difference   allowed');
}

// Standard normal: [heads][n][d], as ours takes it, and [n][heads][d], as theirs does.
function bothLayouts({ heads, n, d }) {
  const ours = Float32Array.from(random.standardNormal(heads * n * d));
  const theirs = new Float32Array(ours.length);
  for (let h = 0; h < heads; ++h) {
    for (let i = 0; i < n; ++i) {
      for (let e = 0; e < d; ++e) {
        theirs[(i * heads + h) * d + e] = ours[(h * n + i) * d + e];
      }
    }
  }
  return { ours, theirs };
}

// The largest difference, relative to their largest value; NaN stays.
function difference(ours, theirs, { heads, n, d }) {
  let largest = 0;
  let worst = 0;
  for (let h = 0; h < heads; ++h) {
    for (let i = 0; i < n; ++i) {
      for (let e = 0; e < d; ++e) {
        const x = theirs[(i * heads + h) * d + e];
        const off = Math.abs(ours[(h * n + i) * d + e] - x);
        largest = Math.max(largest, Math.abs(x));
        if (!(off <= worst)) worst = off;
      }
    }
  }
  return worst / largest;
}

// A call of each that is not timed, then one that is, by turns: neither finds the other's caches.
async function inTurns(...runs) {
  const times = runs.map(() => []);
  const start = performance.now();
  while (times[0].length < kLeastSamples || performance.now() - start < 2000 * seconds) {
    for (const [at, run] of runs.entries()) {
      await run();
      const begin = performance.now();
      await run();
      times[at].push(performance.now() - begin);
    }
  }
  return times;
}

async function measure(shape) {
  const { heads, n, d, causal } = shape;
  const [q, k, v] = [bothLayouts(shape), bothLayouts(shape), bothLayouts(shape)];
  const session = await ort.InferenceSession.create(attentionModel(heads, d, causal), {
    executionProviders: ['wasm'],
  });
  const tensor = (x) => new ort.Tensor('float32', x.theirs, [1, n, heads * d]);
  const feeds = { q: tensor(q), k: tensor(k), v: tensor(v) };
  const extents = { batch: 1, queryHeads: heads, kvHeads: heads, queries: n, keys: n, width: d };
  const inputs = { q: q.ours, k: k.ours, v: v.ours, shape: extents, causal };
  let mine, other;
  const ours = () => (mine = attn.attentionForward(inputs).o);
  const theirs = async () => (other = (await session.run(feeds)).o.data);
  for (let i = 0; i < 3; ++i) {
    ours(); // the engine compiles meanwhile
    await theirs();
  }
  const times = await inTurns(ours, theirs);
  await session.release();
  const pairs = causal ? (n * (n + 1)) / 2 : n * n;
  const rate = (ms) => (4 * pairs * d * heads) / ms / 1e6;
  const allowed = 2 ** -23 * (32 + Math.sqrt(n));
  const off = difference(mine, other, shape);
  return {
    name: shape.text,
    op: 'forward',
    unit: 'GFLOP/s',
    ours: rate(median(times[0])),
    onnxruntime: rate(median(times[1])),
    ratio: medianRatio(times[1], times[0]),
    samples: times[0].length,
    difference: off,
    allowed,
    ok: off <= allowed,
  };
}

const benchmarks = [];
for (const shape of shapes) {
  const row = await measure(shape);
  benchmarks.push(row);
  if (values.json) continue;
  const figures = [row.ours.toFixed(1).padStart(6), row.onnxruntime.toFixed(1).padStart(13)];
  const errors = `${row.difference.toExponential(1).padStart(12)}${row.allowed.toExponential(1).padStart(10)}`;
  console.log(
    `${row.name.padEnd(14)}${figures.join('')}           ${row.ratio.toFixed(2).padStart(6)}${errors}${row.ok ? '' : '  FAILED'}`,
  );
}
if (values.json) console.log(JSON.stringify({ context, benchmarks }, undefined, 1));
process.exitCode = benchmarks.every(({ ok }) => ok) ? 0 : 1;
