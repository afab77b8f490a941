// SPDX-License-Identifier: Apache-2.0
import { AttnError, statusCodes } from './errors.js';
import type { Variant } from './features.js';
import type { FloatArray } from './types.js';

/** attn.h's ATTN_ABI_VERSION that this wrapper was written for. */
const abiVersion = 2;

/** A pointer, number or handle; 64-bit integers are bigint. */
export type Argument = number | bigint;
type Function = (...args: Argument[]) => Argument;

/**
 * The instance behind `Attn`. Memory may grow in any call, and with that every older view is
 * detached: views are made anew for each use and never kept.
 */
export class WasmModule {
  /** Where it came from. */
  readonly url: string;
  /** That work on a call, the calling one counted. */
  threads = 1;
  readonly #exports: Record<string, unknown>;
  readonly #memory: WebAssembly.Memory;
  readonly #onDeath: () => void;
  #death: Error | undefined;

  /** `shared`: the memory where the module has none of its own. */
  constructor(
    instance: WebAssembly.Instance,
    url: string,
    onDeath: () => void,
    shared?: WebAssembly.Memory,
  ) {
    this.url = url;
    this.#exports = instance.exports;
    this.#memory = shared ?? (instance.exports['memory'] as WebAssembly.Memory);
    this.#onDeath = onDeath;
    this.call('_initialize');
    const version = this.call('attn_abi_version');
    if (version !== abiVersion) {
      throw new AttnError(
        'load',
        `the module speaks version ${version} of the interface, this script ${abiVersion}`,
      );
    }
  }

  get variant(): Variant {
    return this.call('attn_relaxed_simd') === 1 ? 'relaxed' : 'simd128';
  }

  /** The page's module has not every function of attn.h. */
  has(name: string): boolean {
    return name in this.#exports;
  }

  /** A trap is a fault of the library and leaves the heap in an unknown state: the end. */
  call(name: string, ...args: Argument[]): Argument {
    if (this.#death instanceof AttnError) {
      throw new AttnError(this.#death.code, this.#death.message);
    }
    if (this.#death !== undefined) {
      throw new AttnError('internal', `the module has stopped: ${this.#death.message}`, {
        cause: this.#death,
      });
    }
    try {
      return (this.#exports[name] as Function)(...args);
    } catch (cause) {
      this.#death = cause as Error;
      this.#onDeath();
      throw new AttnError('internal', `${name} stopped: ${this.#death.message}`, { cause });
    }
  }

  /** A function that returns attn_status: anything but ATTN_OK is thrown, with its message. */
  check(name: string, ...args: Argument[]): void {
    if (!this.has(name)) {
      throw new AttnError(
        'unsupported',
        `${name} is not in ${this.url} but in attn.full.*.wasm: load({ full: true })`,
      );
    }
    const status = Number(this.call(name, ...args));
    if (status === 0) return;
    const message = this.text(this.pointer('attn_last_error')) ?? '';
    throw new AttnError(statusCodes[status] ?? 'internal', message);
  }

  /** The engine returns i32; addresses above 2 GiB are negative then. */
  pointer(name: string, ...args: Argument[]): number {
    return Number(this.call(name, ...args)) >>> 0;
  }

  malloc(bytes: number, what: string): number {
    // No C object is larger (PTRDIFF_MAX); emmalloc takes more for a negative size.
    const pointer = bytes < 2 ** 31 ? this.pointer('malloc', bytes) : 0;
    if (pointer === 0) throw new AttnError('out-of-memory', `${what}: ${bytes} bytes`);
    return pointer;
  }

  free(pointer: number): void {
    this.callIfAlive('free', pointer);
  }

  /** For clean-up: after a trap there is nothing to free, and its error must not be hidden. */
  callIfAlive(name: string, pointer: number): void {
    if (this.#death === undefined) this.call(name, pointer);
  }

  /** Nothing works any more; later calls fail as `reason` does. */
  end(reason: AttnError): void {
    this.#death ??= reason;
    this.#onDeath();
  }

  get view(): DataView {
    return new DataView(this.#buffer);
  }

  bytes(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.#buffer, pointer, length);
  }

  /** A copy. */
  floats(type: FloatArrayType, pointer: number, length: number): FloatArray {
    return new type(this.#buffer, pointer, length).slice();
  }

  /** A copy. */
  doubles(pointer: number, length: number): Float64Array {
    return new Float64Array(this.#buffer, pointer, length).slice();
  }

  text(pointer: number): string | undefined {
    if (pointer === 0) return undefined;
    const all = new Uint8Array(this.#buffer, pointer);
    // A copy: no decoder takes memory that is shared.
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  }

  get memoryBytes(): number {
    return this.#buffer.byteLength;
  }

  /** Shared memory that another thread let grow shows it here after a growth of its own, of nothing. */
  get #buffer(): ArrayBuffer {
    if (this.threads > 1) this.#memory.grow(0);
    return this.#memory.buffer as ArrayBuffer;
  }
}

export type FloatArrayType = Float32ArrayConstructor | Float64ArrayConstructor;
