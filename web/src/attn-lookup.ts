// SPDX-License-Identifier: Apache-2.0
export { AttnLookup } from './lookup/element.js';
export type { LookupState } from './lookup/state.js';
