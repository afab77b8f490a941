// SPDX-License-Identifier: Apache-2.0
import { resolve } from 'node:path';
import { defineConfig } from 'vite';

import { sharedWorkers } from './build-plugins.ts';

const here = import.meta.dirname;

/** The page, and each element as a script of its own that any page can embed from the same folder. */
export default defineConfig({
  root: here,
  base: './',
  publicDir: false,
  plugins: [sharedWorkers()],
  build: {
    outDir: process.env['ATTN_PAGE'] ?? resolve(here, '../build/page'),
    emptyOutDir: true,
    target: 'es2022',
    // A module as a data: URL would be refused by script-src 'self' 'wasm-unsafe-eval'.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      preserveEntrySignatures: 'strict',
      input: {
        index: resolve(here, 'index.html'),
        'attn-lookup': resolve(here, 'src/define/attn-lookup.ts'),
        'attn-scaling': resolve(here, 'src/define/attn-scaling.ts'),
        'attn-explainer': resolve(here, 'src/define.ts'),
      },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
});
