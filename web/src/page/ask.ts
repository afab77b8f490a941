// SPDX-License-Identifier: Apache-2.0
// A worker that answers once: both sides of it.

export type Answer<News> = News | { error: string };

/** In the worker: posts what `work` gives, or why it failed. */
export function answer<News>(work: () => Promise<News>): void {
  work().then(
    (news) => postMessage(news),
    (error: unknown) =>
      postMessage({ error: error instanceof Error ? error.message : String(error) }),
  );
}

/** In the page: the worker's answer; it ends with it. A rejection has a message for the reader. */
export function ask<News extends object>(worker: Worker): Promise<News> {
  return new Promise<News>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Answer<News>>) => {
      if ('error' in data) reject(new Error(data.error));
      else resolve(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message || 'the worker could not start'));
    };
  }).finally(() => worker.terminate());
}
