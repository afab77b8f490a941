// SPDX-License-Identifier: Apache-2.0
// What a thread runs, in a page's worker and in Node's: an instance of the module over the memory that
// all share, which works until the thread is ended.
import { imports } from './shared.js';

export interface Start {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  /** From attn_worker_create: where its stack ends and its own variables begin. */
  block: number;
  worker: number;
}

/** Once: it works, or why it does not. */
export interface News {
  error?: string;
}

interface Exports {
  _emscripten_stack_restore(block: number): void;
  attn_worker_begin(block: number): void;
  attn_worker_help(worker: number, seen: number): void;
  attn_worker_failed(): void;
}

interface Port {
  on(event: 'message', listener: (what: Start) => void): void;
  postMessage(news: News): void;
}

function work({ module, memory, block, worker }: Start, tell: (news: News) => void): void {
  let exports: Exports;
  try {
    const instance = new WebAssembly.Instance(module, imports(memory));
    exports = instance.exports as unknown as Exports;
    exports._emscripten_stack_restore(block);
    exports.attn_worker_begin(block);
  } catch (error) {
    tell({ error: error instanceof Error ? error.message : String(error) });
    return;
  }
  tell({});
  try {
    for (let seen = 0; ; ++seen) exports.attn_worker_help(worker, seen);
  } catch (error) {
    exports.attn_worker_failed();
    throw error;
  }
}

const { process } = globalThis as { process?: { versions?: { node?: string } } };
if (process?.versions?.node === undefined) {
  onmessage = ({ data }: MessageEvent<Start>) => work(data, (news) => postMessage(news));
} else {
  const name = 'node:worker_threads';
  // Not by a top-level await, which classic workers of bundlers have not.
  void import(/* webpackIgnore: true */ /* @vite-ignore */ name).then(
    ({ parentPort: port }: { parentPort: Port }) => {
      port.on('message', (what) => work(what, (news) => port.postMessage(news)));
    },
  );
}
