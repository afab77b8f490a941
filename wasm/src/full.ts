// SPDX-License-Identifier: Apache-2.0
// A file of its own: bundlers copy the modules that the scripts they bundle name.
import { AttnError } from './errors.js';
import { type Files, loadFiles, type LoadOptions } from './load.js';
import type { WasmModule } from './module.js';

const full: Files = {
  stem: 'attn.full',
  besideScript: (variant) =>
    variant === 'relaxed'
      ? new URL('./attn.full.relaxed.wasm', import.meta.url)
      : new URL('./attn.full.simd128.wasm', import.meta.url),
};

/** loadModule for the module with everything. */
export async function loadFullModule(options: LoadOptions = {}): Promise<WasmModule> {
  const module = await loadFiles(full, options);
  if (isFull(module)) return module;
  throw new AttnError('load', `${module.url}: is the page's module, needed is attn.full.*.wasm`);
}

export function isFull(module: WasmModule): boolean {
  return module.has('attn_merge_states');
}
