// SPDX-License-Identifier: Apache-2.0
import { type Figure, load } from 'attn';

export type ReportNews = { figures: Figure[]; ms: number; variant: string } | { error: string };

const tell = (news: ReportNews): void => postMessage(news);

load()
  .then((attn) => {
    const start = performance.now();
    const figures = attn.report();
    tell({ figures, ms: performance.now() - start, variant: attn.variant });
  })
  .catch((error: unknown) =>
    tell({ error: error instanceof Error ? error.message : String(error) }),
  );
