// SPDX-License-Identifier: Apache-2.0
// Appended to a module that Emscripten made: `node module.mjs ARGUMENTS` runs main(). A page that
// imports the same file gets the factory and nothing runs.
if (typeof process === 'object' && process.versions?.node) {
  const { realpathSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  const started = process.argv[1] && realpathSync(process.argv[1]);
  if (started === fileURLToPath(import.meta.url)) {
    await Module({ arguments: process.argv.slice(2) });
  }
}
