// SPDX-License-Identifier: Apache-2.0
import type { ScalingRow } from 'attn';
import { Experimenter, type Job, Stopped } from './experimenter.js';

export type Order = { wasmUrl?: string | undefined; id: number; job: Job } | { stop: true };
export type News =
  | { id: number; progress: number }
  | { id: number; rows: ScalingRow[] }
  | { id: number; stopped: true }
  | { id: number; error: string };

let experimenter: Experimenter | undefined;

addEventListener('message', ({ data }: MessageEvent<Order>) => {
  if ('stop' in data) return experimenter?.stop();
  const { id, job, wasmUrl } = data;
  const tell = (news: News): void => postMessage(news);
  experimenter ??= new Experimenter(wasmUrl);
  experimenter
    .measure(job, (progress) => tell({ id, progress }))
    .then(
      (rows) => tell({ id, rows }),
      (error: unknown) =>
        tell(
          error instanceof Stopped
            ? { id, stopped: true }
            : { id, error: error instanceof Error ? error.message : String(error) },
        ),
    );
});
