// SPDX-License-Identifier: Apache-2.0
// The only part of the page that loads the module with everything, and only when a reader asks.
import { bitwiseDigest, loadFullModule } from 'attn/parts';

export type DigestNews = { digest: string; native: string; ms: number } | { error: string };

const tell = (news: DigestNews): void => postMessage(news);

loadFullModule()
  .then((module) => {
    const start = performance.now();
    tell({ ...bitwiseDigest(module), ms: performance.now() - start });
  })
  .catch((error: unknown) =>
    tell({ error: error instanceof Error ? error.message : String(error) }),
  );
