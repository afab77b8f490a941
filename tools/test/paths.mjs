// SPDX-License-Identifier: Apache-2.0
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const full = process.env.ATTN_FULL === '1';

const ignored = new Set(['node_modules', 'dist', 'build', '.git', '.toolchain']);

// Every file below `folder` that `accept` takes, sorted, as paths from the root.
export function filesBelow(folder, accept) {
  const found = [];
  const visit = (path) => {
    let entries;
    try {
      entries = readdirSync(join(root, path), { withFileTypes: true });
    } catch {
      return; // no such folder
    }
    for (const entry of entries) {
      const child = `${path}/${entry.name}`;
      if (entry.isDirectory() && !ignored.has(entry.name)) visit(child);
      if (entry.isFile() && accept(entry.name)) found.push(child);
    }
  };
  visit(folder);
  return found.sort();
}
