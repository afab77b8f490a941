// SPDX-License-Identifier: Apache-2.0
// The build steps that suites name in `needs`. Each runs once, when the first suite asks for it.
import { availableParallelism } from 'node:os';

import { full, root } from './paths.mjs';
import { run } from './run.mjs';

const jobs = String(availableParallelism());

// targets: none means everything. g++ and the sanitizers build the doctest suite alone, except in
// the full run, where the command line is tried with them too.
const preset = (name, ...targets) => [
  ['cmake', ['--preset', name, '-DATTN_BUILD_TESTS=ON']],
  [
    'cmake',
    ['--build', '--preset', name, '-j', jobs, ...(targets.length ? ['--target', ...targets] : [])],
  ],
];

const testsOnly = (name) => (full ? preset(name) : preset(name, 'attn_tests'));

// Everything with the sanitizers, and in the full run with all of their checks.
const sanitized = () => {
  const [[cmake, args], ...rest] = testsOnly('asan');
  return [[cmake, [...args, `-DATTN_SANITIZE_ALL=${full ? 'ON' : 'OFF'}`]], ...rest];
};

// What differs by relaxed SIMD; the command line is the same program but for its speed.
const testsAndPage = (name) =>
  full ? preset(name) : preset(name, 'attn_tests', 'attn_wasm', 'attn_wasm_full');

const steps = {
  release: { title: 'native, clang', commands: preset('release') },
  gcc: { title: 'native, g++', commands: testsOnly('gcc') },
  asan: { title: 'sanitizers', commands: sanitized() },
  tsan: { title: 'thread sanitizer', commands: preset('tsan', 'attn_tests') },
  wasm: { title: 'WebAssembly, 128-bit SIMD', commands: preset('wasm') },
  'wasm-relaxed': { title: 'WebAssembly, relaxed SIMD', commands: testsAndPage('wasm-relaxed') },
  package: { title: 'JavaScript package', commands: [['npm', ['run', '-w', 'wasm', 'build']]] },
  page: { title: 'page', commands: [['npm', ['run', '-w', 'web', 'build']]] },
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

const started = new Map();

// -> {ok, output, title}; prints one line the first time. One build at a time: each takes all cores.
export function build(name) {
  if (!started.has(name)) {
    const before = Promise.all(started.values());
    started.set(
      name,
      before.then(() => runSteps(steps[name])),
    );
  }
  return started.get(name);
}
