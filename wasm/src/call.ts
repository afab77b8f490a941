// SPDX-License-Identifier: Apache-2.0
import { floatType, lengthOf } from './check.js';
import type { Argument, WasmModule } from './module.js';
import type { FloatArray } from './types.js';

/** A piece of the memory of one call. */
export interface Piece {
  readonly offset: number;
  write(base: number): void;
}

export interface Output<A extends FloatArray> extends Piece {
  read(base: number): A;
}

/** attn.h's dtypes of arrays that are not floating point. */
export const u8 = 2;
export const i64 = 3;

const tensorBytes = 88;
// Data begins on a cache line, as the tensors of native programs do.
const lineBytes = 64;
const dataOffset = 2 * lineBytes;

/**
 * One call into the module. Inputs, outputs and structs are laid out first, so that a single
 * allocation holds all of them and a single `finally` frees it, whatever happens between.
 */
export class Call {
  readonly #module: WasmModule;
  readonly #pieces: Piece[] = [];
  #size = 0;

  constructor(module: WasmModule) {
    this.#module = module;
  }

  /** A dense tensor that is copied in. */
  input(
    array: FloatArray | Uint8Array | BigInt64Array,
    shape: readonly number[],
    dtype = floatCode(array.BYTES_PER_ELEMENT),
  ): Piece {
    return this.#tensor(dtype, array.BYTES_PER_ELEMENT, shape, (data) => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      this.#module.bytes(data, bytes.length).set(bytes);
    });
  }

  /** A dense tensor that is copied out. */
  output<A extends FloatArray>(like: A, shape: readonly number[]): Output<A> {
    const type = floatType(like);
    const bytes = type.BYTES_PER_ELEMENT;
    const piece = this.#tensor(floatCode(bytes), bytes, shape, () => {});
    return {
      ...piece,
      read: (base) =>
        this.#module.floats(type, base + piece.offset + dataOffset, lengthOf(shape)) as A,
    };
  }

  /**
   * Fields in their order after `uint32_t size`: i is int32, q int64 or a pointer (to a piece, 0 is
   * null), d double.
   */
  struct(format: string, ...values: (Piece | number)[]): Piece {
    let size = 4;
    const fields = [...format].map((kind, i) => {
      const width = kind === 'i' ? 4 : 8;
      const at = align(size, width);
      size = at + width;
      return { kind, at, value: values[i] as Piece | number };
    });
    size = align(size, 8);
    return this.#place(size, (start, base) => {
      const view = this.#module.view;
      view.setUint32(start, size, true);
      for (const { kind, at, value: of } of fields) {
        const value = typeof of === 'object' ? base + of.offset : of;
        if (kind === 'i') view.setInt32(start + at, value, true);
        else if (kind === 'q') view.setBigInt64(start + at, BigInt(value), true);
        else view.setFloat64(start + at, value, true);
      }
    });
  }

  /** Null where there is none: the library then chooses. */
  name(text: string | undefined): Piece | 0 {
    if (text === undefined) return 0;
    return this.raw(new TextEncoder().encode(`${text}\0`));
  }

  raw(bytes: Uint8Array): Piece {
    return this.#place(bytes.length, (base) => {
      this.#module.bytes(base, bytes.length).set(bytes);
    });
  }

  /** `outputs` are copied out of a call that succeeded. */
  run<const O extends readonly Output<FloatArray>[]>(
    name: string,
    args: readonly (Piece | Argument)[],
    outputs: O,
  ): { [K in keyof O]: O[K] extends Output<infer A> ? A : never } {
    return this.#within((base, values) => {
      this.#module.check(name, ...values(args));
      return outputs.map((output) => output.read(base)) as never;
    });
  }

  /** For functions whose last parameter takes a pointer to what they create. */
  create(name: string, args: readonly (Piece | Argument)[]): number {
    const place = this.#place(8, () => {});
    return this.#within((base, values) => {
      this.#module.check(name, ...values([...args, place]));
      return this.#module.view.getUint32(base + place.offset, true);
    });
  }

  /** For functions whose last parameter takes a pointer to an int64. */
  count(name: string, args: readonly (Piece | Argument)[]): number {
    const place = this.#place(8, () => {});
    return this.#within((base, values) => {
      this.#module.check(name, ...values([...args, place]));
      return Number(this.#module.view.getBigInt64(base + place.offset, true));
    });
  }

  #within<R>(
    use: (base: number, values: (args: readonly (Piece | Argument)[]) => Argument[]) => R,
  ): R {
    const pointer = this.#module.malloc(this.#size + lineBytes, 'arguments and results');
    try {
      const base = align(pointer, lineBytes);
      for (const piece of this.#pieces) piece.write(base);
      return use(base, (args) =>
        args.map((arg) => (typeof arg === 'object' ? base + arg.offset : arg)),
      );
    } finally {
      this.#module.free(pointer);
    }
  }

  #tensor(
    dtype: number,
    elementBytes: number,
    shape: readonly number[],
    fill: (data: number) => void,
  ): Piece {
    const rank = shape.length;
    return this.#place(dataOffset + lengthOf(shape) * elementBytes, (start) => {
      const view = this.#module.view;
      view.setUint32(start, tensorBytes, true);
      view.setInt32(start + 4, dtype, true);
      view.setInt32(start + 8, rank, true);
      view.setInt32(start + 12, 0, true);
      view.setUint32(start + 16, start + dataOffset, true);
      let stride = 1;
      for (let axis = rank - 1; axis >= 0; --axis) {
        const extent = shape[axis] as number;
        view.setBigInt64(start + 24 + 8 * axis, BigInt(extent), true);
        view.setBigInt64(start + 56 + 8 * axis, BigInt(stride), true);
        stride *= extent;
      }
      fill(start + dataOffset);
    });
  }

  // `write` is handed the address of the piece and that of the first one.
  #place(bytes: number, write: (address: number, base: number) => void): Piece {
    const offset = this.#size;
    this.#size = align(offset + bytes, lineBytes);
    const piece = { offset, write: (base: number) => write(base + offset, base) };
    this.#pieces.push(piece);
    return piece;
  }
}

function floatCode(elementBytes: number): number {
  return elementBytes === 4 ? 0 : 1;
}

function align(at: number, to: number): number {
  return Math.ceil(at / to) * to;
}
