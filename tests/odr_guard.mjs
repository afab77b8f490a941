// SPDX-License-Identifier: Apache-2.0
// node tests/odr_guard.mjs BUILD_FOLDER
//
// A translation unit compiled with -mavx512f that exports a weak function under a name the baseline
// also has (std::max, an xsimd helper) may win at link time: then a machine without AVX-512 dies in
// code that has nothing to do with it. So
//  - an xsimd object defines nothing visible outside the namespace attn::xsimd_<isa>;
//  - in the Highway object, whatever is visible outside a target's namespace N_<TARGET> has no
//    instruction of AVX or later;
//  - no object runs anything before main().
// The guard first checks itself on a planted fault.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const build = process.argv[2];
if (!build || !existsSync(join(build, 'lib'))) {
  console.error(`tests/odr_guard.mjs: "${build ?? ''}" is no build folder (it has no lib/)`);
  process.exit(2);
}

const call = (tool, ...args) => execFileSync(tool, args, { encoding: 'utf8', maxBuffer: 1 << 30 });

function objectsBelow(folder, pattern, found = []) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) objectsBelow(path, pattern, found);
    else if (pattern.test(path)) found.push(path);
  }
  return found;
}

// -> [{kind, name, mangled}] of the symbols an object defines for others.
function visible(object) {
  const read = (...options) =>
    call('nm', '--defined-only', '--extern-only', ...options, object)
      .split('\n')
      .map((line) => /^[0-9a-f]* ?([A-Za-z]) (.*)$/.exec(line))
      .filter(Boolean);
  const plain = read();
  return read('-C').map(([, kind, name], i) => ({ kind, name, mangled: plain[i][2] }));
}

// Mangled names of the functions that have an instruction of AVX or later (all start with v).
function withAvx(object) {
  const found = new Set();
  let current = '';
  for (const line of call('objdump', '-d', '--no-show-raw-insn', object).split('\n')) {
    const head = /^[0-9a-f]+ <(.+)>:$/.exec(line);
    if (head) current = head[1];
    else if (/^\s+[0-9a-f]+:\s+v[a-z]/.test(line) && !/\sver[rw]\s/.test(line)) found.add(current);
  }
  return found;
}

const runsBeforeMain = (object) =>
  /\s\.(init_array|ctors)\b/.test(call('objdump', '-h', object))
    ? [`${object}: runs code before main()`]
    : [];

function checkXsimd(object, isa) {
  const inside = new RegExp(`^(guard variable for |vtable for )?attn::xsimd_${isa}::`);
  const symbols = visible(object);
  const problems = symbols
    .filter(({ name }) => !inside.test(name.replace(/^(?:[\w:<>, *&]+ )?(?=attn::xsimd_)/, '')))
    .map(({ kind, name }) => `${object}: exports ${kind} ${name}, outside attn::xsimd_${isa}`);
  if (symbols.length === 0) problems.push(`${object}: exports nothing, not even its table`);
  return [...problems, ...runsBeforeMain(object)];
}

function checkHighway(object) {
  const avx = withAvx(object);
  const problems = visible(object)
    .filter(({ name, mangled }) => !/\bN_[A-Z0-9_]+::/.test(name) && avx.has(mangled))
    .map(({ kind, name }) => `${object}: exports ${kind} ${name} with AVX instructions`);
  if (avx.size === 0) problems.push(`${object}: no AVX instruction at all; are targets missing?`);
  return problems;
}

// A fault of each kind, compiled here, must be found.
function checkItself() {
  const folder = mkdtempSync(join(tmpdir(), 'attn-odr-'));
  try {
    const source = join(folder, 'fault.cc');
    const object = join(folder, 'fault.o');
    writeFileSync(
      source,
      `template <class T> __attribute__((noinline)) T Twice(T x) { return x + x; }
       namespace attn::xsimd_avx2 { float Table(float x) { return Twice(x); } }`,
    );
    call('clang++-19', '-O2', '-mavx2', '-c', source, '-o', object);
    const problems = [];
    if (checkXsimd(object, 'avx2').length !== 1)
      problems.push('a planted weak symbol was not found');
    if (checkXsimd(object, 'sse2').length !== 2) problems.push('a wrong namespace was not found');
    if (checkHighway(object).length !== 1)
      problems.push('planted AVX outside a target was not found');
    return problems;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const results = [['the guard finds planted faults', checkItself()]];
const kIsas = ['sse2', 'avx2', 'avx512', 'avx512_bf16'];
for (const isa of kIsas) {
  const objects = objectsBelow(build, new RegExp(`attn_xsimd_${isa}\\.dir/.*\\.o$`));
  const problems =
    objects.length === 1 ? checkXsimd(objects[0], isa) : [`${objects.length} objects for ${isa}`];
  results.push([`xsimd ${isa}`, problems]);
}
const highway = objectsBelow(build, /attn\.dir\/targets\/highway\.cc\.o$/);
results.push([
  'highway',
  highway.length === 1 ? checkHighway(highway[0]) : [`${highway.length} Highway objects`],
]);

for (const [name, problems] of results) {
  console.log(`${problems.length ? 'FAIL' : 'ok'} ${name}`);
  problems.slice(0, 40).forEach((problem) => console.log(`  ${problem}`));
}
const failed = results.filter(([, problems]) => problems.length).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
