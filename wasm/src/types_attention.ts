// SPDX-License-Identifier: Apache-2.0
// Attention, its rules, and what stands around it. "Full" is what the page's module has not.
import type { FloatArray } from './types.js';

/** Query head h reads key/value head h / (queryHeads / kvHeads). */
export interface AttentionShape {
  /** Default 1. */
  batch?: number;
  /** Default 1. */
  queryHeads?: number;
  /** Default: queryHeads. */
  kvHeads?: number;
  queries: number;
  /** With pages: how many each sequence has room for, a multiple of pageSize. */
  keys: number;
  /** Of a query and a key. */
  width: number;
  /** Of a value. Default: width. */
  valueWidth?: number;
  /** Of a cache in pages, with pageTable: keys a page. */
  pageSize?: number;
}

export interface AttentionOptions {
  /** Default 1 / sqrt(width). Zero and negative numbers are ordinary. */
  scale?: number;
  /** Query i sees key j when j <= i + offset. */
  causal?: boolean;
  /**
   * The offset is keys - queries (bottom_right, the default) or 0; with kvLens or cuSeqlens of the
   * keys and queries that a sequence has.
   */
  align?: 'bottom_right' | 'top_left';
  /** The offset itself. */
  queryOffset?: number;
  /** Full. Query i sees keys i + offset - left to i + offset + right; an absent side has no limit. */
  window?: { left?: number; right?: number };
  /** Full. Scaled scores s become softcap * tanh(s / softcap). Default 0: none. */
  softcap?: number;
}

/** Full. Which keys there are, and what is added to their scores. */
export interface AttentionRules<A extends FloatArray> {
  /** [batch][queryHeads][queries][keys], or of maskKeepShape: 0 hides. */
  maskKeep?: Uint8Array;
  /** Four extents, each that of the scores or 1, which stands for all. */
  maskKeepShape?: readonly number[];
  /** Likewise, added to the scores: -Infinity hides, other numbers do not. */
  maskAdd?: A;
  maskAddShape?: readonly number[];
  /** [queryHeads]: logits without a value. */
  sinks?: A;
  /** [batch]: how many keys each sequence has, 0..keys. */
  kvLens?: ArrayLike<number>;
  /**
   * Sequences one after the other, batch 1: sequence s has queries cuSeqlensQ[s] up to
   * cuSeqlensQ[s + 1], and likewise keys. From 0 to queries, and to keys; both or none.
   */
  cuSeqlensQ?: ArrayLike<number>;
  cuSeqlensK?: ArrayLike<number>;
}

export interface AttentionInputs<A extends FloatArray> {
  /** [batch][queryHeads][queries][width] */
  q: A;
  /** [batch][kvHeads][keys][width]; with pages [pages][kvHeads][pageSize][width] */
  k: A;
  /** [batch][kvHeads][keys][valueWidth]; with pages [pages][kvHeads][pageSize][valueWidth] */
  v: A;
  shape: AttentionShape;
}

/**
 * auto (the default): decode for pages and for few queries, where the backend has it, else flash.
 * flash: keys in blocks, nothing of size queries x keys. explicit: three passes. decode (full):
 * keys in parts that merge.
 */
export type AttentionForm = 'auto' | 'flash' | 'explicit' | 'decode';

export interface AttentionForwardArguments<A extends FloatArray>
  extends AttentionInputs<A>, AttentionOptions, AttentionRules<A> {
  form?: AttentionForm;
  /** Full. Parts of the keys in decode. Default 0: one for each 1024 keys, at most 64. */
  kvSplits?: number;
  /**
   * Full, with shape.pageSize. [batch][keys / pageSize]: key j of sequence b lies on page
   * pageTable[b][j / pageSize], slot j % pageSize. Entries behind kvLens are not read.
   */
  pageTable?: ArrayLike<number>;
  backend?: string;
}

export interface AttentionForwardResult<A extends FloatArray> {
  /** [batch][queryHeads][queries][valueWidth]; 0 in a row that sees no key */
  o: A;
  /** [batch][queryHeads][queries]: ln of the sum of exponentials, -Infinity for such a row */
  lse: A;
}

export interface AttentionWeightsArguments<A extends FloatArray> extends AttentionOptions {
  q: A;
  k: A;
  /** Not read: so that the same inputs go into all three functions. */
  v?: A;
  shape: AttentionShape;
}

/** [batch][queryHeads][queries][keys] each */
export interface AttentionWeightsResult<A extends FloatArray> {
  /** Scaled; -Infinity where hidden. */
  scores: A;
  weights: A;
}

export interface AttentionBackwardArguments<A extends FloatArray>
  extends AttentionInputs<A>, AttentionOptions, AttentionRules<A>, AttentionForwardResult<A> {
  /** Gradient of a loss by o. */
  dO: A;
  /** Gradient by lse; default 0. */
  dLse?: A;
  backend?: string;
}

export interface AttentionGradients<A extends FloatArray> {
  dq: A;
  /** Sums over the query heads of a group, as dv does. */
  dk: A;
  dv: A;
  /** [queryHeads]; where there are sinks */
  dSinks?: A;
}

export interface MergeStatesArguments<A extends FloatArray> {
  /** o [rows][valueWidth], lse [rows]; where lse is -Infinity, o is not read */
  a: AttentionForwardResult<A>;
  b: AttentionForwardResult<A>;
  rows: number;
  valueWidth: number;
}

export interface RmsNormArguments<A extends FloatArray> {
  /** [rows][width] */
  x: A;
  /** [width] */
  w: A;
  /** Added to the mean of squares; 0 or more. */
  eps: number;
  rows: number;
  width: number;
}

export interface RmsNormBackwardArguments<A extends FloatArray> extends RmsNormArguments<A> {
  /** [rows][width] */
  dY: A;
}

export interface RmsNormGradients<A extends FloatArray> {
  /** [rows][width] */
  dx: A;
  /** [width], summed over the rows */
  dw: A;
}

export interface RotaryShape {
  /** Default 1. */
  batch?: number;
  /** Default 1. */
  heads?: number;
  tokens: number;
  width: number;
  /** How many of the channels turn, an even number. Default: width. */
  rotaryWidth?: number;
}

export interface RotaryTables<A extends FloatArray> {
  /** [rows][rotaryWidth / 2] */
  cos: A;
  sin: A;
}

export interface RotaryOptions<A extends FloatArray> extends RotaryTables<A> {
  /** interleaved: channels 2k and 2k + 1 are a pair; half: k and k + rotaryWidth / 2. */
  pairing: 'interleaved' | 'half';
  /** [batch][tokens]: each token's row of the tables. Default: token s has row s. */
  positions?: ArrayLike<number>;
  shape: RotaryShape;
}

export interface RotaryArguments<A extends FloatArray> extends RotaryOptions<A> {
  /** [batch][heads][tokens][width] */
  x: A;
}

export interface RotaryBackwardArguments<A extends FloatArray> extends RotaryOptions<A> {
  /** [batch][heads][tokens][width] */
  dY: A;
}

export type Dtype = 'f32' | 'f64';
export type ArrayOf<D extends Dtype> = D extends 'f64' ? Float64Array : Float32Array;

/** Row p, column k: cos and sin of p * base^(-2k / rotaryWidth). */
export interface RotaryTablesArguments<D extends Dtype> {
  rows: number;
  rotaryWidth: number;
  /** Default 10000. */
  base?: number;
  /** Default f32. */
  dtype?: D;
}
