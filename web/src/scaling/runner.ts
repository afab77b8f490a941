// SPDX-License-Identifier: Apache-2.0
// The experiment in a worker; where a page may not start one (file://, a sandboxed frame of another origin), in
// slices on this thread. One job at a time: a new one stops the one before.
import type { ScalingRow } from 'attn';
import { Experimenter, type Job, Stopped } from './experimenter.js';
import type { News, Order } from './worker.js';

interface Waiting {
  id: number;
  job: Job;
  progress: (done: number) => void;
  resolve: (rows: ScalingRow[]) => void;
  reject: (error: Error) => void;
}

export class Runner {
  private worker: Worker | undefined;
  private here: Experimenter | undefined;
  private waiting: Waiting | undefined;
  private lastId = 0;

  constructor(private wasmUrl?: string) {
    try {
      this.worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
      this.worker.onmessage = ({ data }: MessageEvent<News>) => this.hear(data);
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.fallBack();
      };
    } catch {
      this.fallBack();
    }
  }

  get inWorker(): boolean {
    return this.worker !== undefined;
  }

  measure(job: Job, progress: (done: number) => void): Promise<ScalingRow[]> {
    this.drop();
    return new Promise((resolve, reject) => {
      this.waiting = { id: ++this.lastId, job, progress, resolve, reject };
      this.send();
    });
  }

  stop(): void {
    this.worker?.postMessage({ stop: true } satisfies Order);
    this.here?.stop();
    this.drop();
  }

  dispose(): void {
    this.stop();
    this.worker?.terminate();
    this.worker = undefined;
    this.here?.free();
    this.here = undefined;
  }

  private drop(): void {
    this.waiting?.reject(new Stopped());
    this.waiting = undefined;
  }

  private send(): void {
    const { waiting, wasmUrl } = this;
    if (!waiting) return;
    const { id, job, progress } = waiting;
    if (this.worker) {
      this.worker.postMessage({ id, job, wasmUrl } satisfies Order);
      return;
    }
    this.here ??= new Experimenter(wasmUrl);
    this.here.measure(job, progress).then(
      (rows) => this.hear({ id, rows }),
      (error: unknown) =>
        this.hear(
          error instanceof Stopped
            ? { id, stopped: true }
            : { id, error: error instanceof Error ? error.message : String(error) },
        ),
    );
  }

  private hear(news: News): void {
    const { waiting } = this;
    if (news.id !== waiting?.id) return;
    if ('progress' in news) return waiting.progress(news.progress);
    this.waiting = undefined;
    if ('rows' in news) waiting.resolve(news.rows);
    else waiting.reject('error' in news ? new Error(news.error) : new Stopped());
  }

  private fallBack(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.send();
  }
}
