// SPDX-License-Identifier: Apache-2.0
// The library as others meet it: installed, then found by CMake. Used by tests/consumer and by the
// examples of the README.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './paths.mjs';
import { run } from './run.mjs';

async function steps(commands) {
  let output = '';
  for (const [command, ...args] of commands) {
    const result = await run(command, args, { cwd: root, timeout: 300 });
    output += `$ ${[command, ...args].join(' ')}\n${result.output}${result.ended}\n`;
    if (result.code !== 0) return { ok: false, output };
  }
  return { ok: true, output };
}

// From an empty folder, so that a file which is no longer installed is missed.
export async function install(build) {
  const prefix = join(root, build, 'prefix');
  rmSync(prefix, { recursive: true, force: true });
  return { prefix, ...(await steps([['cmake', '--install', build, '--prefix', prefix]])) };
}

// Builds one source file against the library in `prefix` by tests/consumer/CMakeLists.txt.
export async function buildAgainst(prefix, source, name) {
  const folder = join(root, 'build', 'installed', name);
  rmSync(folder, { recursive: true, force: true });
  const configure = ['cmake', '-S', 'tests/consumer', '-B', folder, '-G', 'Ninja'];
  configure.push(`-DCMAKE_PREFIX_PATH=${prefix}`, `-DCONSUMER_SOURCE=${source}`);
  // Warnings in the public headers would be the user's warnings.
  configure.push('-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror');
  const result = await steps([configure, ['cmake', '--build', folder]]);
  return { ...result, program: join(folder, 'consumer') };
}
