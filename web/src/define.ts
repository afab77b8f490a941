// SPDX-License-Identifier: Apache-2.0
// Importing this file registers every element.
import './define/attn-lookup.js';
import './define/attn-scaling.js';
