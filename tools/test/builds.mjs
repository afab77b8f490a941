// SPDX-License-Identifier: Apache-2.0
// The build steps that suites name in `needs`. Each runs once, when the first suite asks for it.
import { availableParallelism } from 'node:os';

import { full, root } from './paths.mjs';
import { run } from './run.mjs';

const jobs = String(availableParallelism());

// targets: none means everything. settings: -DNAME=VALUE for the configuration.
const preset = (name, { targets = [], settings = [] } = {}) => [
  ['cmake', ['--preset', name, '-DATTN_BUILD_TESTS=ON', ...settings]],
  [
    'cmake',
    ['--build', '--preset', name, '-j', jobs, ...(targets.length ? ['--target', ...targets] : [])],
  ],
];

// What a second compiler and the sanitizers build in every run: the suite for Highway's widest and
// narrowest instruction set (xsimd's units carry no sanitizer in any case), and with sanitizers without
// the bench's cases. The full run builds everything, with g++ file by file: one that relies on others of
// its batch fails there, and one whose names clash with another's in the short run.
const fewTargets = '-DATTN_FEW_TARGETS=ON';
const noBench = '-DATTN_BUILD_BENCH=OFF';
const testsOnly = (name, settings = []) =>
  full
    ? preset(name, { settings })
    : preset(name, { targets: ['attn_tests'], settings: [fewTargets, ...settings] });

const steps = {
  release: { title: 'native, clang', commands: preset('release') },
  gcc: {
    title: 'native, g++',
    commands: testsOnly('gcc', [`-DATTN_BATCHES=${full ? 'OFF' : 'ON'}`]),
  },
  asan: {
    title: 'sanitizers',
    commands: testsOnly('asan', [
      `-DATTN_SANITIZE_ALL=${full ? 'ON' : 'OFF'}`,
      ...(full ? [] : [noBench]),
    ]),
  },
  tsan: {
    title: 'thread sanitizer',
    commands: preset('tsan', { targets: ['attn_tests'], settings: [fewTargets, noBench] }),
  },
  wasm: { title: 'WebAssembly', commands: preset('wasm') },
  'wasm-threads': {
    title: 'WebAssembly with threads',
    commands: preset('wasm-threads', { settings: ['-DATTN_BUILD_TESTS=OFF'] }),
  },
  package: {
    title: 'JavaScript package',
    commands: [['npm', ['run', '-w', 'wasm', 'build']]],
    after: ['wasm', 'wasm-threads'],
  },
  page: {
    title: 'page',
    commands: [['npm', ['run', '-w', 'web', 'build']]],
    after: ['package'],
  },
};

async function runSteps({ title, commands }) {
  let seconds = 0;
  let output = '';
  let ok = true;
  for (const [command, args] of commands) {
    const result = await run(command, args, { cwd: root, timeout: 1800 });
    seconds += result.seconds;
    output += `$ ${[command, ...args].join(' ')}\n${result.output}${result.ended}\n`;
    ok = result.code === 0 && !result.ended;
    if (!ok) break;
  }
  console.log(`build ${title.padEnd(28)}${ok ? '' : 'FAILED'} ${seconds.toFixed(1).padStart(8)} s`);
  return { ok, output, title };
}

const kAtOnce = 2;
const started = new Map();
const lanes = Array.from({ length: kAtOnce }, () => Promise.resolve());
let next = 0;

// -> {ok, output, title}; prints one line the first time. Two builds at a time: while one waits for
// its longest file the other has work. A build that needs an earlier one's files says so in `after`.
export function build(name) {
  if (!started.has(name)) {
    const lane = next++ % kAtOnce;
    const before = [lanes[lane], ...(steps[name].after ?? []).map(build)];
    lanes[lane] = Promise.all(before).then(() => runSteps(steps[name]));
    started.set(name, lanes[lane]);
  }
  return started.get(name);
}
