// SPDX-License-Identifier: Apache-2.0
// The option this Node needs for relaxed SIMD: Node 20 has it behind a flag that later ones refuse.
// Printed when run as a program: node $(node tools/relaxed_flag.mjs) module.mjs
import { fileURLToPath } from 'node:url';

// (module (func (result v128) (f32x4.relaxed_madd (v128 zero) (v128 zero) (v128 zero))))
const zero = [0xfd, 0x0c, ...new Array(16).fill(0)];
const body = [0, ...zero, ...zero, ...zero, 0xfd, 0x85, 0x02, 0x0b];
const probe = new Uint8Array([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // magic, version
  ...[1, 5, 1, 0x60, 0, 1, 0x7b], // type: () -> v128
  ...[3, 2, 1, 0], // one function of that type
  ...[10, body.length + 2, 1, body.length, ...body],
]);

export const relaxedFlags = WebAssembly.validate(probe) ? [] : ['--experimental-wasm-relaxed-simd'];

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(relaxedFlags.join(' '));
