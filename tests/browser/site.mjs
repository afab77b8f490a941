// SPDX-License-Identifier: Apache-2.0
// What the tests know of the built site: where the entry module of an element is, how a stranger's
// page embeds it, and the attribute by which an element says that its numbers are on screen.
import { fileURLToPath } from 'node:url';

export const kElements = ['attn-lookup', 'attn-scaling'];

export function embed(names, { head = '', body, module = (name) => `${name}.js` } = {}) {
  const scripts = names.map((name) => `<script type="module" src="${module(name)}"></script>`);
  const elements = body ?? names.map((name) => `<${name}></${name}>`).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Embedding page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${head}
${scripts.join('\n')}</head><body><main><h1>Embedding page</h1>
${elements}
</main></body></html>`;
}

export function makeSite(server, folder) {
  const roots = { '': folder, 'tests/': fileURLToPath(new URL('./fixtures', import.meta.url)) };
  return {
    folder,
    /** The site under a path of its own, with the server's options for faults and headers. */
    variant: (options = {}) =>
      server.variant({ ...options, roots: { ...roots, ...options.roots } }),
  };
}
