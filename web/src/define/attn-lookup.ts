// SPDX-License-Identifier: Apache-2.0
// Importing this file registers <attn-lookup>.
import { AttnLookup } from '../attn-lookup.js';
import { define } from '../core/define.js';

define('attn-lookup', AttnLookup);

declare global {
  interface HTMLElementTagNameMap {
    'attn-lookup': AttnLookup;
  }
}
