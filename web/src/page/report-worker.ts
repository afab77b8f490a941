// SPDX-License-Identifier: Apache-2.0
// From parts: the whole of attn would bring its second module into the page's files.
import { type Figure, loadModule, report } from 'attn/parts';
import { answer } from './ask.js';

export type ReportNews = { figures: Figure[]; ms: number; variant: string };

answer(async (): Promise<ReportNews> => {
  const module = await loadModule();
  const start = performance.now();
  const figures = report(module);
  return { figures, ms: performance.now() - start, variant: module.variant };
});
