// SPDX-License-Identifier: Apache-2.0
// What a user of the npm package gets.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { supportedVariants } from 'attn';
import { build as esbuild } from 'esbuild';
import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(root, path));
const folder = mkdtempSync(join(tmpdir(), 'attn-'));
after(() => rmSync(folder, { recursive: true }));

// What of attn.h the page's module leaves out.
const fullOnly =
  /^attn_(set_threads|bitwise_digest|merge_states|rms_norm|rms_norm_backward|rotary_(tables|embedding|embedding_backward))$/;

for (const [stem, variant, kB] of [
  ['attn', 'simd128', 60],
  ['attn', 'relaxed', 60],
  ['attn.full', 'simd128', 165],
  ['attn.full', 'relaxed', 165],
  ['attn.threads', 'simd128', 165],
  ['attn.threads', 'relaxed', 165],
]) {
  const bytes = read(`wasm/dist/${stem}.${variant}.wasm`);
  test(`${stem}.${variant}.wasm: ${kB} kB gzipped at most, one memory, and nothing is asked for but what threads share`, (t) => {
    const size = gzipSync(bytes, { level: 9 }).length;
    t.diagnostic(`${size} bytes gzipped`);
    assert.ok(size <= 1000 * kB, `${size} bytes gzipped`);
    if (!supportedVariants().includes(variant)) return t.skip('this engine cannot read it');
    const module = new WebAssembly.Module(bytes);
    const imports = WebAssembly.Module.imports(module);
    const memories = WebAssembly.Module.exports(module).filter(({ kind }) => kind === 'memory');
    if (stem === 'attn.threads') {
      assert.deepEqual(imports, [
        { module: 'env', name: 'wait', kind: 'function' },
        { module: 'env', name: 'memory', kind: 'memory' },
      ]);
      assert.deepEqual(memories, []);
    } else {
      assert.deepEqual(imports, []);
      assert.deepEqual(memories, [{ name: 'memory', kind: 'memory' }]);
    }
    const functions = WebAssembly.Module.exports(module).map(({ name }) => name);
    // Every function of the C interface is there, but for those that only the full module has.
    const header = String(read('wasm/attn.h'));
    const declared = [...header.matchAll(/^ATTN_EXPORT [\w* ]*?(attn_\w+)\(/gm)].map(
      ([, name]) => name,
    );
    assert.ok(declared.length > 30);
    for (const name of declared) {
      const wanted = stem !== 'attn' || !fullOnly.test(name);
      assert.equal(functions.includes(name), wanted, `${name} is exported, or is not`);
    }
  });
}

test('the packed files are what exports and types name, and no more', () => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: join(root, 'wasm'),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  const files = JSON.parse(output)[0].files.map(({ path }) => path);
  const manifest = JSON.parse(read('wasm/package.json'));
  const named = Object.values(manifest.exports)
    .flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
    .map((path) => path.replace('./', ''));
  for (const path of [...named, 'README.md', 'package.json']) {
    assert.ok(files.includes(path), `${path} is not packed`);
  }
  for (const path of files) {
    assert.match(
      path,
      /^(dist\/[a-z0-9_]+(\.d\.ts|\.js)|dist\/attn\.((full|threads)\.)?(simd128|relaxed)\.wasm|README\.md|LICENSE|package\.json)$/,
    );
  }
  assert.equal(Object.keys(manifest.exports['.'])[0], 'types');
  assert.equal(manifest.dependencies, undefined);
});

test('nothing in the package evaluates text', () => {
  for (const name of ['attn', 'call', 'full', 'load', 'module', 'thread', 'threads']) {
    assert.doesNotMatch(String(read(`wasm/dist/${name}.js`)), /\beval\b|new Function/);
  }
});

// The same ten lines stand in both READMEs.
const example = (path) => {
  const found = [
    ...String(read(path)).matchAll(/^```js\n([\s\S]*?)^```\n+```text\n([\s\S]*?)^```$/gm),
  ];
  return found.find(([, code]) => code.includes("from 'attn'"));
};

test('the example of the README runs and prints what it says', () => {
  const found = example('wasm/README.md');
  assert.ok(found, 'wasm/README.md has no example');
  const [, code, output] = found;
  assert.ok(code.trimEnd().split('\n').length <= 10, 'ten lines');
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(printed, output);
});

test('the example of the rules runs and prints what it says', () => {
  const found = [
    ...String(read('wasm/README.md')).matchAll(
      /^```js\n([\s\S]*?)^```\n+```text\n([\s\S]*?)^```$/gm,
    ),
  ].find(([, code]) => code.includes('full: true'));
  assert.ok(found, 'wasm/README.md has no example of the full module');
  const [, code, output] = found;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(printed, output);
});

test('the README of the project has the same example', () => {
  const [, code] = example('wasm/README.md');
  const top = example('README.md');
  assert.ok(top, "README.md has no ```js example of 'attn' with its ```text output");
  assert.equal(top[1], code);
});

test('a bundler keeps the modules as files', async () => {
  const entry = join(folder, 'main.js');
  writeFileSync(
    entry,
    `import { load } from ${JSON.stringify(join(root, 'wasm/dist/index.js'))};\nload().then(console.log);\n`,
  );
  const { output } = await build({
    root: folder,
    logLevel: 'error',
    configFile: false,
    build: { write: false, assetsInlineLimit: 0, rollupOptions: { input: entry } },
  });
  const assets = output.filter(({ type }) => type === 'asset').map(({ fileName }) => fileName);
  for (const stem of ['attn', 'attn.full', 'attn.threads'].flatMap((name) => [
    `${name}.simd128`,
    `${name}.relaxed`,
  ])) {
    assert.ok(
      assets.some((name) => name.includes(stem) && name.endsWith('.wasm')),
      assets.join(' '),
    );
  }
  const [chunk] = output.filter(({ type }) => type === 'chunk');
  assert.ok(!chunk.code.includes('data:application/wasm'));
});

test('esbuild bundles it for a page, and the bundle loads from a folder', async () => {
  const entry = join(folder, 'app.js');
  const source = JSON.stringify(join(root, 'wasm/dist/index.js'));
  writeFileSync(
    entry,
    `import { load } from ${source};
     const attn = await load({ wasmUrl: process.argv[2] });
     console.log(attn.backends().length);`,
  );
  const outfile = join(folder, 'app.mjs');
  await esbuild({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    outfile,
  });
  const printed = execFileSync(process.execPath, [outfile, join(root, 'wasm/dist/')], {
    encoding: 'utf8',
  });
  assert.equal(printed, '2\n');
});
