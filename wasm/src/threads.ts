// SPDX-License-Identifier: Apache-2.0
// The module whose memory is shared, and the workers that share it. Each worker is an instance of the
// module in a thread of its own, which sleeps until the first instance has work (abi/workers.cc).
import { show } from './check.js';
import { AttnError, invalid } from './errors.js';
import { loadFullModule } from './full.js';
import { type Files, failure, type LoadOptions, node, source, start } from './load.js';
import type { WasmModule } from './module.js';
import { imports } from './shared.js';
import type { Start, News } from './thread.js';

const shared: Files = {
  stem: 'attn.threads',
  besideScript: (variant) =>
    variant === 'relaxed'
      ? new URL('./attn.threads.relaxed.wasm', import.meta.url)
      : new URL('./attn.threads.simd128.wasm', import.meta.url),
};

const most = 64; // attn_worker_create's
// Of the module, in pages of 64 KiB (CMakeLists.txt). An engine that cannot reserve the most gives less.
const initialPages = 32;
const maximumPages = [32768, 16384, 4096];

/** Threads need memory that they share; a page has it where it is cross-origin isolated. */
export function threadsPossible(): boolean {
  const { crossOriginIsolated } = globalThis as { crossOriginIsolated?: boolean };
  return crossOriginIsolated !== false && typeof SharedArrayBuffer === 'function';
}

/**
 * A module of its own with `threads` threads, the calling one counted; 0: one for each processor. Where
 * threads are not possible, loadFullModule.
 */
export async function loadThreadedModule(
  threads: number,
  options: LoadOptions = {},
): Promise<WasmModule> {
  if (!Number.isInteger(threads) || threads < 0 || threads > most) {
    throw invalid(
      `options.threads is ${show(threads)}, needed is a whole number from 0 to ${most}`,
    );
  }
  const count = threads === 0 ? Math.min(await processors(), most) : threads;
  if (count === 1 || !threadsPossible()) return loadFullModule(options);
  const { href, compile } = source(shared, options);
  const compiled = await compile();
  const memory = makeMemory(href);
  const workers: Thread[] = [];
  const module = await start(Promise.resolve(compiled), href, () => stop(workers), imports(memory));
  try {
    // One after the other would take their time to start one after the other.
    const started: Promise<void>[] = [];
    for (let worker = 1; worker < count; ++worker) {
      const block = module.pointer('attn_worker_create');
      if (block === 0) throw new AttnError('out-of-memory', `the stack of thread ${worker + 1}`);
      const thread = await makeThread();
      workers.push(thread);
      started.push(thread.start({ module: compiled, memory, block, worker }));
    }
    await Promise.all(started);
  } catch (cause) {
    stop(workers);
    if (cause instanceof AttnError) throw cause;
    throw failure(href, `its ${count} threads could not be started`, cause);
  }
  module.check('attn_set_threads', 0);
  module.threads = count;
  // Nobody would do its part, and the next call would wait for it for ever.
  const why = new AttnError('internal', `${href}: one of its threads has ended`);
  for (const worker of workers) worker.onEnd(() => module.end(why));
  return module;
}

/** Ends its threads and the module with them; of a module without threads nothing. */
export function endThreads(module: WasmModule): void {
  if (module.threads > 1) module.end(invalid(`${module.url}: this module was closed`));
}

function makeMemory(url: string): WebAssembly.Memory {
  let last: unknown;
  for (const maximum of maximumPages) {
    try {
      return new WebAssembly.Memory({ initial: initialPages, maximum, shared: true });
    } catch (cause) {
      last = cause;
    }
  }
  throw failure(url, 'there is no shared memory for it', last);
}

async function processors(): Promise<number> {
  if (node() === undefined) return Math.max(1, navigator.hardwareConcurrency);
  const { availableParallelism } = await fromNode<{ availableParallelism(): number }>('os');
  return availableParallelism();
}

/** By a name that bundlers do not look into: they would want a replacement for a page. */
async function fromNode<M>(name: string): Promise<M> {
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`)) as M;
}

interface Thread {
  /** Until it has an instance. */
  start(what: Start): Promise<void>;
  end(): void;
  /** When it ends by itself, or is ended by others. Browsers tell of errors alone. */
  onEnd(tell: () => void): void;
}

/** Once: each that ends says so, and Node listens once more for every terminate(). */
function stop(threads: Thread[]): void {
  for (const thread of threads.splice(0)) thread.end();
}

async function makeThread(): Promise<Thread> {
  return node() === undefined ? browserThread() : nodeThread();
}

function browserThread(): Thread {
  const worker = new Worker(new URL('./thread.js', import.meta.url), { type: 'module' });
  return {
    start: (what) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }: MessageEvent<News>) => settle(data, resolve, reject);
        worker.onerror = (event) => {
          event.preventDefault();
          reject(new Error(event.message || 'the worker could not start'));
        };
        worker.postMessage(what);
      }),
    end: () => worker.terminate(),
    onEnd(tell) {
      worker.onerror = tell;
    },
  };
}

interface NodeWorker {
  on(event: 'message', listener: (news: News) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  on(event: 'exit', listener: () => void): void;
  postMessage(what: Start): void;
  terminate(): Promise<number>;
  unref(): void;
}

async function nodeThread(): Promise<Thread> {
  const { Worker: NodeWorker } = await fromNode<{
    Worker: new (url: URL, options: { execArgv: string[] }) => NodeWorker;
  }>('worker_threads');
  // Not the program's own options: a worker refuses --input-type, which stands beside -e.
  const worker = new NodeWorker(new URL('./thread.js', import.meta.url), { execArgv: [] });
  return {
    start: (what) =>
      new Promise((resolve, reject) => {
        worker.on('message', (news) => {
          worker.unref(); // a program ends when its own thread has ended
          settle(news, resolve, reject);
        });
        worker.on('error', reject);
        worker.postMessage(what);
      }),
    end: () => void worker.terminate(),
    onEnd: (tell) => worker.on('exit', tell),
  };
}

function settle(news: News, resolve: () => void, reject: (error: Error) => void): void {
  if (news.error === undefined) resolve();
  else reject(new Error(news.error));
}
