// SPDX-License-Identifier: Apache-2.0
// The only part of the page that loads the module with everything, and only when a reader asks.
import { bitwiseDigest, loadFullModule } from 'attn/parts';
import { answer } from './ask.js';

export type DigestNews = { digest: string; native: string; ms: number };

answer(async (): Promise<DigestNews> => {
  const module = await loadFullModule();
  const start = performance.now();
  return { ...bitwiseDigest(module), ms: performance.now() - start };
});
