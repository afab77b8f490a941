// SPDX-License-Identifier: Apache-2.0
// What goes in and what comes out. Arrays are dense and row-major; results are copies that belong
// to the caller. types_attention.ts has those of attention and of what stands around it.
export type * from './types_attention.js';

/** Float32Array runs on the fastest backend, Float64Array on the reference. */
export type FloatArray = Float32Array | Float64Array;

export interface BackendInfo {
  name: string;
  f32: boolean;
  f64: boolean;
  /** f32 numbers a vector; 1 for the reference. */
  lanes: number;
}

export interface SoftmaxRowsArguments<A extends FloatArray> {
  /** [rows][columns] */
  x: A;
  rows: number;
  columns: number;
  backend?: string;
}

export interface SoftmaxRowsResult<A extends FloatArray> {
  p: A;
  /** [rows] */
  lse: A;
}

/** What becomes of a hidden score before softmax; minus_infinity is the definition. */
export type HiddenScore = 'minus_infinity' | 'zero' | 'lowest_finite' | 'minus_billion';

export interface SoftLookupArguments<A extends FloatArray> {
  /** [queries][width] */
  q: A;
  /** [keys][width] */
  k: A;
  /** [keys][valueWidth] */
  v: A;
  queries: number;
  keys: number;
  width: number;
  /** Default: width. */
  valueWidth?: number;
  scale?: number;
  /** Query i sees keys 0..i. */
  causal?: boolean;
  /** [queries][keys]: true or not 0 hides, beside what causal hides. */
  hidden?: ArrayLike<number | boolean>;
  hiddenScore?: HiddenScore;
  backend?: string;
}

/** Everything between Q, K, V and the answer; [queries][keys] unless said otherwise. */
export interface SoftLookupResult<A extends FloatArray> {
  /** q . k */
  dots: A;
  /** Scaled, the hidden ones replaced. */
  scores: A;
  /** e^score as on paper, without subtracting the maximum. */
  exps: A;
  /** [queries], of exps */
  sums: A;
  /** exps / sums: NaN where that is 0/0. */
  naive: A;
  /** Softmax as this library defines it: a row that sees nothing has weights 0. */
  weights: A;
  /** [queries] */
  lse: A;
  /** [queries][valueWidth]: weights x V */
  output: A;
  /** [queries]: share of the weight on places that were to be hidden */
  leak: A;
  /** [queries]: the visible key with the highest score, -1 for none */
  hardKey: Int32Array;
  /** [queries][valueWidth]: its value */
  hardOutput: A;
}

export type ScoreDivisor = 'one' | 'sqrt_d' | 'd';

/** score = (q . k) / divisor / temperature, then softcap * tanh(score / softcap). */
export interface ScoreRule {
  divisor?: ScoreDivisor;
  /** Default 1. */
  temperature?: number;
  /** Default 0: none. */
  softcap?: number;
  /** q and k are first divided by their root mean square. */
  qkNorm?: boolean;
}

/** Over all queries of one d. */
export interface ScalingRow {
  d: number;
  /** Population standard deviation of all scores. */
  spread: number;
  /** Mean over queries of the largest weight. */
  top: number;
  /** Mean entropy in nats. */
  entropy: number;
  /** e^entropy: how many keys the weight is spread over. */
  effective: number;
  /** Share of queries whose largest weight is above 0.99. */
  saturated: number;
  /** Lowest and highest score; the histogram has 64 equal bins from one to the other. */
  low: number;
  high: number;
  histogram: Float64Array;
}

export interface ScalingArguments {
  seed: number | bigint;
  /** 1..65536 each, and trials x keys at most 2^24. */
  trials: number;
  keys: number;
}

/** begin(d), then advance until it returns 0, then measure under any number of rules. */
export interface ScalingExperiment {
  readonly trials: number;
  readonly keys: number;
  /** Draws q and K. All come from one stream, so the order of the begins matters. */
  begin(d: number): void;
  /** Scores of up to `queries` more queries; returns how many are left. */
  advance(queries: number): number;
  measure(rule?: ScoreRule): ScalingRow;
  /** All in one call: begin(d), everything, and one row a rule. */
  step(d: number, rules: readonly ScoreRule[]): ScalingRow[];
  free(): void;
}

/** The stream of NumPy's default_rng(seed), bit for bit. */
export interface RandomGenerator {
  standardNormal(n: number): Float64Array;
  random(n: number): Float64Array;
  free(): void;
}

/** Of p = softmax(multiplier * z). */
export interface Sensitivity {
  p: Float64Array;
  /** [n][n]: diag(p) - p p^T */
  jacobian: Float64Array;
  rowSums: Float64Array;
  /** [n][n]; column j: (softmax(z + step e_j) - softmax(z)) / step */
  nudged: Float64Array;
  /** Of nudged and jacobian. */
  largestDifference: number;
  step: number;
}

/** Sixteen hexadecimal digits each. */
export interface BitwiseDigest {
  /** Of this backend, here. */
  digest: string;
  /** What the portable backend gave natively. */
  native: string;
}

/** J g both ways. */
export interface JacobianProduct {
  dot: number;
  /** p o (g - p . g) */
  fast: Float64Array;
  /** Row i of J times g. */
  slow: Float64Array;
  fastOperations: number;
  slowOperations: number;
}

/** The attention of a decoder. */
export interface ModelShape {
  layers: number;
  /** Those with a cache that grows; default: all. */
  attentionLayers?: number;
  dModel: number;
  heads: number;
  /** Default: heads. */
  kvHeads?: number;
  dHead: number;
  /** Latent attention: keys and values of all heads are rebuilt from this many numbers. */
  dLatent?: number;
  /** Decoupled rotary part, one key for all heads. */
  dRope?: number;
  dQueryLatent?: number;
}

export interface NamedModel extends Required<ModelShape> {
  id: string;
  name: string;
  /** Where the figures stand. */
  source: string;
  /** Scores are divided by the square root of this. */
  queryScalar: number;
  /** Of the attention scores; 0: none. */
  softcap: number;
}

/** FLOPs count a multiplication and an addition as two. Of one attention layer. */
export interface ModelCosts {
  projectionWeights: number;
  projectionFlopsPerToken: number;
  /** Position from which a token spends more on attention than on projections. */
  crossoverToken: number;
  /** Prompt length from which the whole prompt does. */
  crossoverPrompt: number;
  /** Kept a token and layer. */
  cacheNumbers: number;
  /** The same with a key and a value head for each query head. */
  cacheNumbersUnshared: number;
  cacheSaving: number;
  /** What one key/value head for all would save. */
  multiQuerySaving: number;
  /** Groups of grouped-query attention that would cache as much. */
  equivalentGroups: number;
  /** W_QK of one head: [dModel][dModel], held as two factors of rank dHead. */
  circuit: { entries: number; factorEntries: number; rankBound: number; headsCover: number };
}

export interface CostRow {
  n: number;
  /** n^2, one head, full grid */
  headScores: number;
  /** 4 n^2 dHead */
  headFlops: number;
  /** 4 n dHead^2 */
  headFlopsLinear: number;
  /** All caching layers and heads; the causal mask skips pairs. */
  modelAttention: number;
  modelProjections: number;
  /** bf16 */
  cacheBytes: number;
}

export interface CostAtArguments {
  n: number;
  /** Default: the model's dHead. */
  d?: number;
  causal?: boolean;
  /** Default 2. */
  bytesPerNumber?: number;
}

/** For a prompt of n tokens and one head of width d. */
export interface CostAt {
  pairs: number;
  softmaxFlops: number;
  linearFlops: number;
  /** What a recurrence keeps: S [d][d] and z [d]. */
  linearStateNumbers: number;
  /** One layer, one new token that sees n. */
  attentionFlopsAt: number;
  cacheBytes: number;
}

export interface Costs {
  models(): NamedModel[];
  ofModel(model: ModelShape): ModelCosts;
  /** Default lengths: 1024, 2048, ... 131072. */
  table(model: ModelShape, lengths?: readonly number[]): CostRow[];
  at(model: ModelShape, a: CostAtArguments): CostAt;
}

export type FigureValue = number | string | FigureValue[] | { [key: string]: FigureValue };

export interface FigureLeaf {
  /** As printed: "0.090", "6.04e-15", "1:7". */
  published: string;
  computed: number | string;
  agrees: boolean;
  /** Leading significant digits of `published` that the computed value reproduces. */
  digits: number;
}

/** A figure of the article, published beside computed. */
export interface Figure {
  /** "s1.weights_token3" */
  id: string;
  /** 1..7; 8 for "In the real world" */
  step: number;
  what: string;
  compare:
    'exact' | 'rounded' | 'about' | 'order' | 'at_least' | 'abs<1e-15' | 'curve' | 'identity';
  published: FigureValue;
  /** In the same arrangement; null where the verdict says that there is nothing. */
  computed: FigureValue | null;
  verdict: 'agrees' | 'differs' | 'needs-file' | 'later';
  /** For exact and rounded figures: of the scalar that has the fewest. */
  digits: number | null;
  note?: string;
  /** The scalars in their order. */
  leaves: FigureLeaf[];
}
