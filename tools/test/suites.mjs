// SPDX-License-Identifier: Apache-2.0
// Every suite of `make test`: what it needs built, and how its cases are run and counted. A suite
// returns {passed, failed, skipped, output}; `output` is shown where something failed.
import { doctest, plain, tap } from './count.mjs';
import { counted } from './counted.mjs';
import { handedCases } from './handed.mjs';
import { filesBelow, full } from './paths.mjs';
import { readmeExamples } from './readme.mjs';
import { sizes } from './sizes.mjs';
import { relaxedFlags } from '../relaxed_flag.mjs';

const sum = (results) => ({
  passed: results.reduce((total, r) => total + r.passed, 0),
  failed: results.reduce((total, r) => total + r.failed, 0),
  skipped: results.reduce((total, r) => total + r.skipped, 0),
  output: results.map((r) => r.output).join('\n'),
});

// Emscripten takes a pipe for a terminal, and the closing line would come in colours.
const plainText = ['--no-colors=true'];

const native =
  (preset, env, ...args) =>
  () =>
    counted(doctest, `build/${preset}/tests/attn_tests`, [...plainText, ...args], {
      timeout: full ? 3600 : 1200,
      env,
    });

const node =
  (program, flags, ...more) =>
  () =>
    counted(
      doctest,
      process.execPath,
      [...flags, `build/wasm/tests/${program}.mjs`, ...plainText, ...more],
      {
        timeout: full ? 3600 : 1200,
      },
    );

// `engines` run side by side: they wait as much as they work.
const browser =
  (suite, ...engines) =>
  async () => {
    const runEngine = (engine) => {
      const args = ['tests/browser/run.mjs', '--engine', engine, '--suite', suite];
      if (full) args.push('--full');
      return counted(plain, process.execPath, args, { timeout: full ? 3600 : 600 });
    };
    return sum(await Promise.all(engines.map(runEngine)));
  };

const nodeTests =
  (...folders) =>
  () => {
    const files = folders.flatMap((folder) =>
      filesBelow(folder, (name) => /\.test\.m?js$/.test(name)),
    );
    if (files.length === 0) {
      return {
        passed: 0,
        failed: 0,
        skipped: 0,
        output: `no *.test.mjs in ${folders.join(', ')}\n`,
      };
    }
    const args = [...relaxedFlags, '--test', '--test-reporter=tap', ...files];
    return counted(tap, process.execPath, args, { timeout: 900 });
  };

const script =
  (...args) =>
  () =>
    counted(plain, process.execPath, args, { timeout: 900 });

const asanEnv = {
  ASAN_OPTIONS: 'detect_leaks=1:strict_string_checks=1',
  UBSAN_OPTIONS: 'print_stacktrace=1',
};
const tsanEnv = { TSAN_OPTIONS: 'halt_on_error=1' };
const page = ['wasm', 'wasm-threads', 'package', 'page'];
// Random problems: fewer where one takes long; the full run has many, but in browsers, which run
// Node's programs.
const brief = full ? [] : ['--brief'];
const long = full ? ['--full'] : [];

// `needs` names steps of builds.mjs; builds go ahead in the order in which suites first ask for them,
// those for pages first, because browsers wait more than they work. Suites of another `lane` than the
// main one run beside it, as soon as they are built; what is `alone` runs when all others have ended.
// Browsers stay in the main lane: beside two builds and a second one the elements took 10 minutes.
export const suites = [
  { name: 'native clang', needs: ['release'], run: native('release', {}, ...long) },
  { name: 'ODR guard', needs: ['release'], run: script('tests/odr_guard.mjs', 'build/release') },
  { name: 'consumer', needs: ['release'], run: script('tests/consumer/run.mjs', 'build/release') },
  { name: 'Node simd128', needs: ['wasm'], run: node('attn_tests', [], ...long) },
  { name: 'command line', needs: ['release', 'wasm'], run: nodeTests('tests/cli') },
  {
    name: 'Node relaxed',
    needs: ['wasm'],
    run: node('attn_tests_relaxed', relaxedFlags, ...brief, ...long),
  },
  // After the package: web/ is checked against its types.
  { name: 'lint', needs: ['wasm', 'wasm-threads', 'package'], run: script('tools/lint.mjs') },
  {
    name: 'JavaScript',
    needs: ['release', ...page],
    run: nodeTests('wasm', 'web', 'tests/js', 'tools'),
  },
  { name: 'README examples', needs: ['release', ...page], run: readmeExamples },
  { name: 'sizes', needs: page, run: sizes },
  { name: 'Chromium', needs: ['wasm'], run: browser('doctest', 'chromium') },
  { name: 'Firefox', needs: ['wasm'], run: browser('doctest', 'firefox') },
  { name: 'WebKit', needs: ['wasm'], run: browser('doctest', 'webkit') },
  { name: 'elements', needs: page, run: browser('elements', 'firefox', 'webkit') },
  { name: 'native gcc', needs: ['gcc'], lane: 'gcc', run: native('gcc', {}, ...long) },
  {
    name: 'sanitizers',
    needs: ['asan'],
    lane: 'sanitizers',
    run: native('asan', asanEnv, ...brief, ...long),
  },
  // What threads share; one that is not met by several has no races.
  ...(full
    ? [
        {
          name: 'thread sanitizer',
          needs: ['tsan'],
          run: native('tsan', tsanEnv, '--source-file=*threads_test.cc', ...long),
        },
      ]
    : []),
  {
    name: 'handed cases',
    needs: ['release', 'wasm', ...(full ? ['gcc', 'asan'] : [])],
    run: handedCases,
  },
  // Something is timed in it.
  { name: 'elements Chromium', needs: page, alone: true, run: browser('elements', 'chromium') },
];
