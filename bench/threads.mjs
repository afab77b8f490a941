// SPDX-License-Identifier: Apache-2.0
// node bench/threads.mjs [THREADS] [--json]: attention in WebAssembly on one thread and on THREADS
// (default 2), in turns on the same arrays; medians of wall time of whole calls, copies in and out of
// the module included.
import { load } from 'attn';
import { commandLine, fail, median, medianRatio } from './script.mjs';

const { values, positionals } = commandLine({ json: { type: 'boolean' } });
const threads = Number(positionals[0] ?? 2);
if (!Number.isInteger(threads) || threads < 2 || threads > 64 || positionals.length > 1) {
  fail(`${positionals.join(' ')}: needed is a number of threads from 2 to 64`);
}
const kTurns = 15;
const milliseconds = (call) => {
  const start = performance.now();
  call();
  return performance.now() - start;
};

const alone = await load({ full: true });
const many = await load({ threads });
const context = { node: process.versions.node, variant: alone.variant, threads };
if (!values.json) {
  console.log(
    `Node ${context.node}, ${context.variant}, f32, 8 heads; ms on 1 and ${threads} threads`,
  );
}

// Medians of both, and of the quotient of neighbours in time.
function inTurns(run) {
  const one = [];
  const all = [];
  // The first turn is not counted: the engine compiles then.
  for (let turn = 0; turn <= kTurns; ++turn) {
    const times = [milliseconds(() => run(alone)), milliseconds(() => run(many))];
    if (turn === 0) continue;
    one.push(times[0]);
    all.push(times[1]);
  }
  return { one_ms: median(one), ms: median(all), ratio: medianRatio(one, all) };
}

const benchmarks = [];
for (const [n, d] of [
  [1024, 64],
  [1024, 128],
  [2048, 128],
]) {
  for (const causal of [false, true]) {
    const heads = 8;
    const array = () => Float32Array.from({ length: heads * n * d }, () => 2 * Math.random() - 1);
    const shape = { batch: 1, queryHeads: heads, kvHeads: heads, queries: n, keys: n, width: d };
    const inputs = { q: array(), k: array(), v: array(), shape, causal };
    const upstream = { ...inputs, ...alone.attentionForward(inputs), dO: array() };
    const operations = {
      forward: (attn) => attn.attentionForward(inputs),
      backward: (attn) => attn.attentionBackward(upstream),
    };
    for (const [op, run] of Object.entries(operations)) {
      const name = `${heads}x${n}x${d}${causal ? 'c' : ''}/${op}`;
      const row = { name, op, threads, ...inTurns(run) };
      benchmarks.push(row);
      if (values.json) continue;
      const figures = [row.one_ms.toFixed(1), row.ms.toFixed(1), row.ratio.toFixed(2)];
      console.log(`${name.padEnd(22)}${figures.map((text) => text.padStart(8)).join('')} x`);
    }
  }
}
many.close();
if (values.json) console.log(JSON.stringify({ context, benchmarks }, undefined, 1));
