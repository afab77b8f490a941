// SPDX-License-Identifier: Apache-2.0
import { backendName } from './backends.js';
import { Call } from './call.js';
import type { WasmModule } from './module.js';
import { takeResult, words } from './result.js';
import type { BitwiseDigest } from './types.js';

export function bitwiseDigest(module: WasmModule, backend = 'portable'): BitwiseDigest {
  const call = new Call(module);
  const name = call.name(backendName(module, backend));
  const fields = takeResult(module, call.create('attn_bitwise_digest', [name]));
  return { digest: words(fields, 'digest'), native: words(fields, 'native') };
}
