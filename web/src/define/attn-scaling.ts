// SPDX-License-Identifier: Apache-2.0
// Importing this file registers <attn-scaling>.
import { AttnScaling } from '../attn-scaling.js';
import { define } from '../core/define.js';

define('attn-scaling', AttnScaling);

declare global {
  interface HTMLElementTagNameMap {
    'attn-scaling': AttnScaling;
  }
}
