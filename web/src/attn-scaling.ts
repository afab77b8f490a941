// SPDX-License-Identifier: Apache-2.0
export { AttnScaling } from './scaling/element.js';
export type { ScalingState } from './scaling/state.js';
