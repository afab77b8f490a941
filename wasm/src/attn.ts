// SPDX-License-Identifier: Apache-2.0
import { attentionBackward, attentionForward, attentionWeights } from './attention.js';
import { backends } from './backends.js';
import { costs } from './costs.js';
import { boolean, options as checked, type Names } from './check.js';
import { invalid } from './errors.js';
import { bitwiseDigest } from './digest.js';
import type { Variant } from './features.js';
import { isFull, loadFullModule } from './full.js';
import { loadModule, type LoadOptions as ModuleOptions } from './load.js';
import { softLookup } from './lookup.js';
import { mergeStates } from './merge.js';
import type { WasmModule } from './module.js';
import { rmsNorm, rmsNormBackward } from './norm.js';
import { Generator } from './random.js';
import { report } from './report.js';
import { endThreads, loadThreadedModule } from './threads.js';
import { rotaryEmbedding, rotaryEmbeddingBackward, rotaryTables } from './rotary.js';
import { Scaling } from './scaling.js';
import * as softmax from './softmax.js';
import type * as T from './types.js';

/**
 * The kernels of one loaded module. Arrays go in and out by copy; what a call allocates it frees,
 * also when it fails. Errors are AttnError.
 */
export interface Attn {
  readonly variant: Variant;
  /** False: the page's module, which is small and refuses what it has not as "unsupported". */
  readonly full: boolean;
  /** That work on a call, the calling one counted: 1, or more after load({ threads }). */
  readonly threads: number;
  readonly version: string;
  readonly url: string;
  /** Size of the module's memory: it grows with the largest call and never shrinks. */
  readonly memoryBytes: number;
  /** Of it, what is allocated now: between calls the handles that are not freed, and
   * 0.26 MB a thread beyond the first. */
  readonly heapBytes: number;

  /** Ends the threads that load({ threads }) started, and the module with them; else nothing. */
  close(): void;

  backends(): T.BackendInfo[];

  /** p[r] = softmax(x[r]). A row of only -Infinity has weights 0 and lse -Infinity. */
  softmaxRows<A extends T.FloatArray>(a: T.SoftmaxRowsArguments<A>): T.SoftmaxRowsResult<A>;
  /** [n][n]: diag(p) - p p^T */
  softmaxJacobian<A extends T.FloatArray>(p: A): A;
  /** J g = p o (g - p . g) */
  softmaxJacobianProduct<A extends T.FloatArray>(p: A, g: A): A;
  /** (softmax(z + step e_j) - softmax(z)) / step: column j of J, nudged. */
  softmaxFiniteDifference<A extends T.FloatArray>(z: A, j: number, step: number): A;

  attentionForward<A extends T.FloatArray>(
    a: T.AttentionForwardArguments<A>,
  ): T.AttentionForwardResult<A>;
  /** The scores and weights that the forward pass never stores. */
  attentionWeights<A extends T.FloatArray>(
    a: T.AttentionWeightsArguments<A>,
  ): T.AttentionWeightsResult<A>;
  attentionBackward<A extends T.FloatArray>(
    a: T.AttentionBackwardArguments<A>,
  ): T.AttentionGradients<A>;

  /** Full. Attention over the keys of a and b together, from attention over each. */
  mergeStates<A extends T.FloatArray>(a: T.MergeStatesArguments<A>): T.AttentionForwardResult<A>;
  /** Full. w x / sqrt(mean(x^2) + eps) of each row. */
  rmsNorm<A extends T.FloatArray>(a: T.RmsNormArguments<A>): A;
  rmsNormBackward<A extends T.FloatArray>(a: T.RmsNormBackwardArguments<A>): T.RmsNormGradients<A>;
  /** Full. Pairs of channels turn by the angles of the tables. */
  rotaryEmbedding<A extends T.FloatArray>(a: T.RotaryArguments<A>): A;
  rotaryEmbeddingBackward<A extends T.FloatArray>(a: T.RotaryBackwardArguments<A>): A;
  rotaryTables<D extends T.Dtype = 'f32'>(
    a: T.RotaryTablesArguments<D>,
  ): T.RotaryTables<T.ArrayOf<D>>;

  /** Step 1: everything between Q, K, V and the answer. */
  softLookup<A extends T.FloatArray>(a: T.SoftLookupArguments<A>): T.SoftLookupResult<A>;
  /** Step 2: random queries against random keys; free() the experiment. */
  readonly scaling: {
    create(a: T.ScalingArguments): T.ScalingExperiment;
  };
  /** Step 3 */
  softmaxSensitivity(z: Float64Array, multiplier: number, step: number): T.Sensitivity;
  multiplyJacobian(p: Float64Array, g: Float64Array): T.JacobianProduct;

  /** Steps 4 and 6: what attention costs. */
  readonly costs: T.Costs;
  /** Every figure of the article; about 0.3 s, most of it Step 2: best in a worker. */
  report(backend?: string): T.Figure[];

  /**
   * Full. Stands for the bits of some two hundred thousand results. On the portable backend, which is the
   * default here, the same on every machine and in every browser.
   */
  bitwiseDigest(backend?: string): T.BitwiseDigest;

  /** The stream of NumPy's default_rng(seed); free() it. */
  randomGenerator(seed: number | bigint): T.RandomGenerator;
}

export interface LoadOptions extends ModuleOptions {
  /** True: the module with every rule of attention and SIMD kernels for all of them. */
  full?: boolean;
  /**
   * How many threads work on attention, the calling one counted; 0: one for each processor. Brings the full
   * module, with more than 1 one that has a memory and threads of its own until close(). Where memory cannot be
   * shared (a page that is not cross-origin isolated) there is one thread: `threads` of the result says
   * how many. The bits are the same for any number.
   */
  threads?: number;
}

const loadNames: Names<LoadOptions> = {
  full: true,
  threads: true,
  variant: true,
  wasmUrl: true,
  bytes: true,
};

const made = new WeakMap<WasmModule, Attn>();

/**
 * Loads the module once for each URL. Options that are none are "invalid-argument"; every other error
 * has the code "load" and names the URL.
 */
export async function load(options: LoadOptions = {}): Promise<Attn> {
  const { full, threads, ...rest } = checked('options', options, loadNames);
  const wantsFull = boolean('options.full', full);
  if (threads !== undefined && full === false) {
    throw invalid('options.full is false, but threads need the full module');
  }
  const module = await (threads !== undefined
    ? loadThreadedModule(threads, rest)
    : wantsFull
      ? loadFullModule(rest)
      : loadModule(rest));
  let attn = made.get(module);
  if (attn === undefined) {
    attn = createAttn(module);
    made.set(module, attn);
  }
  return attn;
}

function createAttn(module: WasmModule): Attn {
  return {
    variant: module.variant,
    full: isFull(module),
    get threads() {
      return module.threads;
    },
    version: module.text(module.pointer('attn_version')) ?? '',
    url: module.url,
    get memoryBytes() {
      return module.memoryBytes;
    },
    get heapBytes() {
      return module.pointer('attn_heap_bytes');
    },
    close: () => endThreads(module),
    backends: () => backends(module),
    softmaxRows: (a) => softmax.softmaxRows(module, a),
    softmaxJacobian: (p) => softmax.softmaxJacobian(module, p),
    softmaxJacobianProduct: (p, g) => softmax.softmaxJacobianProduct(module, p, g),
    softmaxFiniteDifference: (z, j, step) => softmax.softmaxFiniteDifference(module, z, j, step),
    attentionForward: (a) => attentionForward(module, a),
    attentionWeights: (a) => attentionWeights(module, a),
    attentionBackward: (a) => attentionBackward(module, a),
    mergeStates: (a) => mergeStates(module, a),
    rmsNorm: (a) => rmsNorm(module, a),
    rmsNormBackward: (a) => rmsNormBackward(module, a),
    rotaryEmbedding: (a) => rotaryEmbedding(module, a),
    rotaryEmbeddingBackward: (a) => rotaryEmbeddingBackward(module, a),
    rotaryTables: (a) => rotaryTables(module, a),
    softLookup: (a) => softLookup(module, a),
    scaling: { create: (a) => new Scaling(module, a) },
    softmaxSensitivity: (z, multiplier, step) =>
      softmax.softmaxSensitivity(module, z, multiplier, step),
    multiplyJacobian: (p, g) => softmax.multiplyJacobian(module, p, g),
    costs: costs(module),
    report: (backend) => report(module, backend),
    bitwiseDigest: (backend) => bitwiseDigest(module, backend),
    randomGenerator: (seed) => new Generator(module, seed),
  };
}
