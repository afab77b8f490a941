// SPDX-License-Identifier: Apache-2.0
// attn/parts: the methods of Attn as functions of a loaded module, for bundles that take only what
// they call.
export { attentionBackward, attentionForward, attentionWeights } from './attention.js';
export { backends } from './backends.js';
export { costs } from './costs.js';
export { bitwiseDigest } from './digest.js';
export { AttnError, type AttnErrorCode } from './errors.js';
export { supportedVariants, type Variant } from './features.js';
export { loadFullModule } from './full.js';
export { loadModule, type LoadOptions } from './load.js';
export { softLookup } from './lookup.js';
export { mergeStates } from './merge.js';
export type { WasmModule } from './module.js';
export { rmsNorm, rmsNormBackward } from './norm.js';
export { Generator } from './random.js';
export { report } from './report.js';
export { rotaryEmbedding, rotaryEmbeddingBackward, rotaryTables } from './rotary.js';
export { Scaling } from './scaling.js';
export * from './softmax.js';
export { endThreads, loadThreadedModule, threadsPossible } from './threads.js';
export type * from './types.js';
