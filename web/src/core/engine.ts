// SPDX-License-Identifier: Apache-2.0
// The only file that loads the package attn. Elements ask in their own words and get the module's numbers.
import {
  backends,
  type HiddenScore,
  loadModule,
  softLookup,
  type SoftLookupResult,
  type WasmModule,
} from 'attn/parts';

export type { HiddenScore } from 'attn';
/** f32 runs on the widest backend, f64 on the reference. */
export type Precision = 'f32' | 'f64';
/** Row-major rows of equal length. */
export type Matrix = readonly (readonly number[])[];
export type LookupAnswer = SoftLookupResult<Float32Array> | SoftLookupResult<Float64Array>;

export interface LookupRequest {
  q: Matrix;
  k: Matrix;
  v: Matrix;
  /** Absent: 1 / sqrt(width). */
  scale?: number;
  causal: boolean;
  /** Hide every key from every query. */
  hideAll?: boolean;
  hiddenScore: HiddenScore;
}

export interface Engine {
  /** Name of the backend that answers in f32. */
  readonly backend: string;
  lookup(request: LookupRequest, precision: Precision): LookupAnswer;
}

/** Throws an error that names the URL and the reason. */
export async function openEngine(wasmUrl?: string): Promise<Engine> {
  const module = await loadModule(wasmUrl === undefined ? {} : { wasmUrl });
  const fastest = backends(module)
    .filter(({ f32 }) => f32)
    .reduce((best, backend) => (backend.lanes > best.lanes ? backend : best));
  return {
    backend: fastest.name,
    lookup: (request, precision) => lookup(module, request, precision),
  };
}

function lookup(module: WasmModule, request: LookupRequest, precision: Precision): LookupAnswer {
  const { q, k, v, scale, causal, hideAll, hiddenScore } = request;
  const rest = {
    queries: q.length,
    keys: k.length,
    width: q[0]?.length ?? 0,
    valueWidth: v[0]?.length ?? 0,
    causal,
    hiddenScore,
    ...(scale === undefined ? {} : { scale }),
    ...(hideAll ? { hidden: new Uint8Array(q.length * k.length).fill(1) } : {}),
  };
  const [a, b, c] = [q.flat(), k.flat(), v.flat()];
  return precision === 'f32'
    ? softLookup(module, {
        ...rest,
        q: Float32Array.from(a),
        k: Float32Array.from(b),
        v: Float32Array.from(c),
      })
    : softLookup(module, {
        ...rest,
        q: Float64Array.from(a),
        k: Float64Array.from(b),
        v: Float64Array.from(c),
      });
}
