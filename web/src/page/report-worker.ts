// SPDX-License-Identifier: Apache-2.0
// From parts: the whole of attn would bring its second module into the page's files.
import { type Figure, loadModule, report } from 'attn/parts';

export type ReportNews = { figures: Figure[]; ms: number; variant: string } | { error: string };

const tell = (news: ReportNews): void => postMessage(news);

loadModule()
  .then((module) => {
    const start = performance.now();
    const figures = report(module);
    tell({ figures, ms: performance.now() - start, variant: module.variant });
  })
  .catch((error: unknown) =>
    tell({ error: error instanceof Error ? error.message : String(error) }),
  );
