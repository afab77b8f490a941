// SPDX-License-Identifier: Apache-2.0
import { show } from './check.js';
import { AttnError, invalid } from './errors.js';

/** simd128: 128-bit vectors. relaxed: the same with fused multiply-add. */
export type Variant = 'simd128' | 'relaxed';

// A module with one function () -> v128 and this body.
function probe(...body: number[]): Uint8Array<ArrayBuffer> {
  const code = [0, ...body, 0x0b]; // no locals, end
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, 5, 1, 0x60, 0, 1, 0x7b],
    ...[3, 2, 1, 0],
    ...[10, code.length + 2, 1, code.length, ...code],
  ]);
}

const splat = [0x41, 0, 0xfd, 0x0f]; // i8x16.splat(0)
const relaxedMadd = [0xfd, 0x85, 0x02]; // f32x4.relaxed_madd

/** What this engine runs, the faster first. Without WebAssembly or SIMD: none. */
export function supportedVariants(): Variant[] {
  if (typeof WebAssembly !== 'object') return [];
  const found: Variant[] = [];
  if (WebAssembly.validate(probe(...splat, ...splat, ...splat, ...relaxedMadd))) {
    found.push('relaxed');
  }
  if (WebAssembly.validate(probe(...splat))) found.push('simd128');
  return found;
}

export function chooseVariant(wanted?: Variant): Variant {
  if (typeof WebAssembly !== 'object') {
    throw new AttnError('load', 'This engine has no WebAssembly, or it is switched off.');
  }
  if (wanted !== undefined && wanted !== 'simd128' && wanted !== 'relaxed') {
    throw invalid(`options.variant is ${show(wanted)}, needed is simd128 or relaxed`);
  }
  const supported = supportedVariants();
  const [best] = supported;
  if (best === undefined) {
    throw new AttnError('load', "This engine's WebAssembly has no 128-bit SIMD.");
  }
  if (wanted !== undefined && !supported.includes(wanted)) {
    throw new AttnError('load', `This engine does not run the variant "${wanted}".`);
  }
  return wanted ?? best;
}
