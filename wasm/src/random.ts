// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { integer, seed64 } from './check.js';
import { Handle } from './handle.js';
import type { WasmModule } from './module.js';
import type { RandomGenerator } from './types.js';

export class Generator extends Handle implements RandomGenerator {
  constructor(module: WasmModule, seed: number | bigint) {
    const pointer = new Call(module).create('attn_generator_create', [seed64('seed', seed)]);
    super(module, 'generator', pointer, 'attn_generator_free');
  }

  standardNormal(n: number): Float64Array {
    return this.#draw('attn_generator_standard_normal', n);
  }

  random(n: number): Float64Array {
    return this.#draw('attn_generator_random', n);
  }

  #draw(name: string, n: number): Float64Array {
    const bytes = 8 * integer('n', n);
    const out = this.module.malloc(bytes, `${n} random numbers`);
    try {
      this.module.check(name, this.pointer, BigInt(n), out);
      return this.module.doubles(out, n);
    } finally {
      this.module.free(out);
    }
  }
}
