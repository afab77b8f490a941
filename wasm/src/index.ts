// SPDX-License-Identifier: Apache-2.0
export { AttnError, type AttnErrorCode } from './errors.js';
export { supportedVariants, type Variant } from './features.js';
export type * from './types.js';
export { load, type Attn, type LoadOptions } from './attn.js';
