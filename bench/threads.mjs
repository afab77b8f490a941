// SPDX-License-Identifier: Apache-2.0
// node bench/threads.mjs [THREADS]: attention in WebAssembly on one thread and on THREADS (default 2), in
// turns on the same arrays; medians of wall time of whole calls, copies in and out of the module included.
import process from 'node:process';
import { load } from 'attn';

const threads = Number(process.argv[2] ?? 2);
if (!Number.isInteger(threads) || threads < 2 || threads > 64) {
  console.error(
    `bench/threads.mjs: ${process.argv[2]}: needed is a number of threads from 2 to 64`,
  );
  process.exit(2);
}
const kTurns = 15;
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const milliseconds = (call) => {
  const start = performance.now();
  call();
  return performance.now() - start;
};

const alone = await load({ full: true });
const many = await load({ threads });
console.log(
  `Node ${process.versions.node}, ${alone.variant}, f32, 8 heads; ms on 1 and ${threads} threads`,
);
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
    for (const [name, run] of Object.entries(operations)) {
      const times = { one: [], all: [] };
      // The first turn is not counted: the engine compiles then.
      for (let turn = 0; turn <= kTurns; ++turn) {
        const one = milliseconds(() => run(alone));
        const all = milliseconds(() => run(many));
        if (turn === 0) continue;
        times.one.push(one);
        times.all.push(all);
      }
      const [one, all] = [median(times.one), median(times.all)];
      const what = `${n}x${d}${causal ? ' causal' : ''}`.padEnd(16);
      console.log(
        `${name.padEnd(9)}${what}${one.toFixed(1).padStart(8)}${all.toFixed(1).padStart(8)}${(one / all).toFixed(2).padStart(7)} x`,
      );
    }
  }
}
many.close();
