// SPDX-License-Identifier: Apache-2.0
import '../define.js';
import { offerDigest } from './digest.js';
import { startReport } from './report.js';

// The report waits until it is near or until the experiment above it is done: both want a processor.
const target = document.getElementById('report')!;
let isStarted = false;
const start = (): void => {
  if (isStarted) return;
  isStarted = true;
  observer.disconnect();
  startReport(target);
};
const observer = new IntersectionObserver(
  (entries) => {
    if (entries.some(({ isIntersecting }) => isIntersecting)) start();
  },
  { rootMargin: '300px' },
);
observer.observe(target);
document.querySelector('attn-scaling')!.addEventListener('attn-ready', start, { once: true });

offerDigest(document.getElementById('digest')!);
