// SPDX-License-Identifier: Apache-2.0
// What JavaScript lets through and C cannot see: NaN and fractional sizes, misspelt options, arrays
// of another type or length. Everything else the library checks itself.
import { invalid, type AttnError } from './errors.js';
import type { FloatArray } from './types.js';

/** Longer texts are cut in messages: a page may show them in a line. */
export const longestShown = 80;

export function show(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > longestShown
        ? `${JSON.stringify(value.slice(0, longestShown))}... (${value.length} characters)`
        : JSON.stringify(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return kindOf(value);
    default:
      return typeof value === 'object' && value !== null ? kindOf(value) : String(value);
  }
}

// Also for arrays of another realm (an iframe), where instanceof fails.
export function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** The names of T's properties: with one too few or too many this does not compile. */
export type Names<T> = Record<keyof T, true>;

/**
 * An object of options with no other names than these: a misspelt option would otherwise be a
 * default. `path` is what stands before a name in messages.
 */
export function options<T extends object>(
  name: string,
  value: T,
  known: Readonly<Record<string, true>>,
  path = `${name}.`,
): T {
  const names = Object.keys(known).join(', ');
  // "Object" is neither an array nor a URL, whose properties would all be unknown or none.
  if (kindOf(value) !== 'Object') {
    throw invalid(`${name} is ${show(value)}, needed is an object that has of ${names}`);
  }
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(known, key));
  if (unknown === undefined) return value;
  throw invalid(`${path}${unknown} is unknown, ${name} has ${names}`);
}

/** The one object that the function `of` takes. */
export function argument<T extends object>(
  of: string,
  value: T,
  known: Readonly<Record<string, true>>,
): T {
  return options(`the argument of ${of}`, value, known, '');
}

/** Nothing else is taken for true or false. */
export function boolean(name: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(`${name} is ${show(value)}, needed is true or false`);
}

export function list<T>(name: string, value: readonly T[]): readonly T[] {
  if (Array.isArray(value)) return value as readonly T[];
  throw invalid(`${name} is ${show(value)}, needed is an array`);
}

/** An integer that is exact as a number. */
export function integer(name: string, value: unknown, least = 0): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  if (Number.isInteger(value) && (value as number) >= least) {
    const beyond = (value as number) > 0 ? 'larger than 2^53 - 1' : 'smaller than -(2^53 - 1)';
    throw invalid(`${name} is ${show(value)}, ${beyond}`);
  }
  throw invalid(
    least === -Infinity
      ? `${name} is ${show(value)}, needed is an integer`
      : `${name} is ${show(value)}, needed is an integer of at least ${least}`,
  );
}

export function finite(name: string, value: unknown): number {
  if (Number.isFinite(value)) return value as number;
  throw invalid(`${name} is ${show(value)}, needed is a finite number`);
}

/** 0..2^64 - 1. */
export function seed64(name: string, value: unknown): bigint {
  if (Number.isInteger(value) && (value as number) > Number.MAX_SAFE_INTEGER) {
    throw invalid(`${name} is ${show(value)}, which is not a safe integer; pass a BigInt`);
  }
  const seed = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof seed === 'bigint' && seed >= 0n && seed < 1n << 64n) return seed;
  throw invalid(`${name} is ${show(value)}, needed is an integer of 0 to 2^64 - 1`);
}

export function choice<const C extends readonly string[]>(
  name: string,
  value: unknown,
  choices: C,
): number {
  const index = choices.indexOf(value as string);
  if (index >= 0) return index;
  throw invalid(`${name} is ${show(value)}, needed is one of ${choices.join(', ')}`);
}

export function optionalText(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(`${name} is ${show(value)}, needed is a string`);
}

export function floats<A extends FloatArray>(name: string, value: A): A {
  const kind = kindOf(value);
  if (kind === 'Float32Array' || kind === 'Float64Array') return value;
  throw invalid(`${name} is ${show(value)}, needed is a Float32Array or a Float64Array`);
}

export function doubles(name: string, value: Float64Array): Float64Array {
  if (kindOf(value) === 'Float64Array') return value;
  throw invalid(`${name} is ${show(value)}, needed is a Float64Array`);
}

/** Of the type of `like` and as long as the shape asks. */
export function tensor<A extends FloatArray>(
  name: string,
  value: A,
  shape: readonly number[],
  axes: string,
  like?: { name: string; value: FloatArray },
): A {
  floats(name, value);
  if (like !== undefined && kindOf(value) !== kindOf(like.value)) {
    throw invalid(`${name} is ${kindOf(value)}, ${like.name} is ${kindOf(like.value)}`);
  }
  if (value.length !== lengthOf(shape)) {
    throw wrongLength(name, value.length, shape, axes);
  }
  return value;
}

/** Integers of any sign, as many as the shape asks, or any number of them. */
export function integers(
  name: string,
  value: ArrayLike<number>,
  shape?: readonly number[],
  axes = '',
): BigInt64Array {
  const length: unknown = (value as Partial<typeof value> | null)?.length;
  if (typeof value !== 'object' || typeof length !== 'number') {
    throw invalid(`${name} is ${show(value)}, needed is an array of integers`);
  }
  if (shape !== undefined && length !== lengthOf(shape)) {
    throw wrongLength(name, length, shape, axes);
  }
  return BigInt64Array.from(value, (x, i) => BigInt(integer(`${name}[${i}]`, x, -Infinity)));
}

export function wrongLength(
  name: string,
  length: number,
  shape: readonly number[],
  axes: string,
): AttnError {
  const extents = shape.length > 1 ? ` = ${shape.join(' x ')}` : '';
  return invalid(
    `${name} has ${length} elements, needed is ${axes}${extents} = ${lengthOf(shape)}`,
  );
}

export function lengthOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

export function floatType<A extends FloatArray>(like: A) {
  return kindOf(like) === 'Float32Array' ? Float32Array : Float64Array;
}
