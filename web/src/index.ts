// SPDX-License-Identifier: Apache-2.0
// Classes only: importing this registers nothing. See define.ts.
export { AttnLookup, type LookupState } from './attn-lookup.js';
export { AttnScaling, type ScalingState } from './attn-scaling.js';
