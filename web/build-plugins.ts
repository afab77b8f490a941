// SPDX-License-Identifier: Apache-2.0
// A step of our own in the build of the page.
import { resolve } from 'node:path';
import type { Plugin } from 'vite';

const kWorker = /new URL\('(\.\/[\w-]*worker)\.js', import\.meta\.url\)/;

/**
 * A worker as one more chunk of the page. Vite would build it on its own, with a second copy of the loader
 * (6 kB gzip) that every page then downloads twice.
 */
export function sharedWorkers(): Plugin {
  return {
    name: 'attn-shared-workers',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      const name = kWorker.exec(code)?.[1];
      if (!name || id.includes('node_modules')) return null;
      const worker = this.emitFile({ type: 'chunk', id: resolve(id, '..', `${name}.ts`) });
      // A function: a file's name may hold "$$", which a replacement text would shorten.
      return {
        code: code.replace(kWorker, () => `import.meta.ROLLUP_FILE_URL_${worker}`),
        map: null,
      };
    },
  };
}
