// SPDX-License-Identifier: Apache-2.0
import type { WasmModule } from './module.js';

export type Fields = Record<string, Float64Array | string>;

/** Copies an attn_result out and frees it. */
export function takeResult(module: WasmModule, result: number): Fields {
  try {
    const fields: Fields = {};
    const count = Number(module.call('attn_result_count', result));
    for (let i = 0; i < count; ++i) {
      const name = module.text(module.pointer('attn_result_name', result, i)) ?? '';
      const text = module.text(module.pointer('attn_result_text', result, i));
      if (text !== undefined) {
        fields[name] = text;
        continue;
      }
      const length = Number(module.call('attn_result_length', result, i));
      const at = module.pointer('attn_result_numbers', result, i);
      fields[name] = length === 0 ? new Float64Array() : module.doubles(at, length);
    }
    return fields;
  } finally {
    module.callIfAlive('attn_result_free', result);
  }
}

export function numbers(fields: Fields, name: string): Float64Array {
  const field = fields[name];
  if (field instanceof Float64Array) return field;
  throw new TypeError(`the module gives no numbers "${name}"`);
}

export function one(fields: Fields, name: string): number {
  return numbers(fields, name)[0] as number;
}

export function words(fields: Fields, name: string): string {
  const field = fields[name];
  if (typeof field === 'string') return field;
  throw new TypeError(`the module gives no text "${name}"`);
}
