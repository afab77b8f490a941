// SPDX-License-Identifier: Apache-2.0
import { longestShown, optionalText, show } from './check.js';
import { AttnError } from './errors.js';
import type { WasmModule } from './module.js';
import type { BackendInfo } from './types.js';

export function backends(module: WasmModule): BackendInfo[] {
  const count = Number(module.call('attn_backend_count'));
  return Array.from({ length: count }, (_, i) => {
    const f32 = Number(module.call('attn_backend_lanes', i, 0));
    const f64 = Number(module.call('attn_backend_lanes', i, 1));
    const name = module.text(module.pointer('attn_backend_name', i)) ?? '';
    return { name, f32: f32 > 0, f64: f64 > 0, lanes: f32 };
  });
}

/**
 * The library says which names it does not know, all but two kinds: those with a NUL, where C would
 * read an end, and those that are too long to repeat.
 */
export function backendName(module: WasmModule, value: unknown): string | undefined {
  const name = optionalText('backend', value);
  if (name === undefined || (name.length <= longestShown && !name.includes('\0'))) return name;
  const names = backends(module).map((backend) => backend.name);
  throw new AttnError(
    'not-found',
    `no backend ${show(name)}; this machine has: ${names.join(', ')}`,
  );
}
