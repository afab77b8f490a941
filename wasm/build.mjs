// SPDX-License-Identifier: Apache-2.0
// node build.mjs: fills dist/ with the scripts, their types and the modules, and prints sizes.
// CMake's wasm presets make the modules (make build does both); --pack also brings the licence.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { gzipSync } from 'node:zlib';

const at = (path) => new URL(path, import.meta.url);
const modules = [
  { file: 'attn.simd128.wasm', preset: 'wasm', target: 'attn_wasm' },
  { file: 'attn.relaxed.wasm', preset: 'wasm', target: 'attn_wasm_relaxed' },
  { file: 'attn.full.simd128.wasm', preset: 'wasm', target: 'attn_wasm_full' },
  { file: 'attn.full.relaxed.wasm', preset: 'wasm', target: 'attn_wasm_full_relaxed' },
  { file: 'attn.threads.simd128.wasm', preset: 'wasm-threads', target: 'attn_wasm_threads' },
  {
    file: 'attn.threads.relaxed.wasm',
    preset: 'wasm-threads',
    target: 'attn_wasm_threads_relaxed',
  },
];

function stop(message) {
  console.error(`attn: ${message}`);
  process.exit(2);
}

mkdirSync(at('dist/'), { recursive: true });
for (const { file, preset, target } of modules) {
  // CMake copies a module as it builds it; after a `clean` of dist alone it is still there.
  const built = at(`../build/${preset}/wasm/${file}`);
  if (existsSync(built)) copyFileSync(built, at(`dist/${file}`));
  if (!existsSync(at(`dist/${file}`))) {
    stop(
      `dist/${file} is missing: cmake --preset ${preset} && cmake --build --preset ${preset} --target ${target}`,
    );
  }
}

// What a source that is gone once left would be published.
const scripts = readdirSync(at('src/')).map((name) => name.replace(/\.ts$/, ''));
for (const name of readdirSync(at('dist/'))) {
  const stem = name.replace(/(\.d)?\.[jt]s$/, '');
  if (stem !== name && !scripts.includes(stem)) rmSync(at(`dist/${name}`));
}

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
try {
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: at('.'), stdio: 'inherit' });
} catch {
  stop('the TypeScript sources do not compile (see above)');
}

if (process.argv.includes('--pack')) copyFileSync(at('../LICENSE'), at('LICENSE'));
else rmSync(at('LICENSE'), { force: true });

for (const { file } of modules) {
  const bytes = readFileSync(at(`dist/${file}`));
  console.log(`${file}: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} gzipped`);
}
