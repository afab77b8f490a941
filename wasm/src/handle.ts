// SPDX-License-Identifier: Apache-2.0
import { invalid } from './errors.js';
import type { WasmModule } from './module.js';

// A handle that is dropped without free() is freed with its object, some time later.
const dropped =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<() => void>((free) => free());

/** Something that lives in the module until free(). */
export class Handle {
  protected readonly module: WasmModule;
  readonly #free: () => void;
  readonly #what: string;
  #pointer: number;

  constructor(module: WasmModule, what: string, pointer: number, destructor: string) {
    this.module = module;
    this.#what = what;
    this.#pointer = pointer;
    this.#free = () => module.callIfAlive(destructor, pointer);
    dropped?.register(this, this.#free, this);
  }

  protected get pointer(): number {
    if (this.#pointer === 0) throw invalid(`the ${this.#what} has been freed`);
    return this.#pointer;
  }

  /** A second call does nothing. */
  free(): void {
    if (this.#pointer === 0) return;
    this.#pointer = 0;
    dropped?.unregister(this);
    this.#free();
  }
}
