// SPDX-License-Identifier: Apache-2.0
// The modules with everything, one entry for each that this engine runs.
import { load, supportedVariants } from 'attn';

export const fullModules = await Promise.all(
  supportedVariants().map(async (variant) => [variant, await load({ variant, full: true })]),
);
