// SPDX-License-Identifier: Apache-2.0
// The programs that measure: each part of the goals is one command, whose rows come back as JSON.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import process from 'node:process';
import { relaxedFlags } from '../../tools/relaxed_flag.mjs';
import { shapes } from './list.mjs';
import { Rows } from './measured.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

// Exit code 1 comes with the rows that are void; others come with a message and none.
async function output(command, args, environment = {}) {
  const options = { cwd: root, maxBuffer: 1 << 28, env: { ...process.env, ...environment } };
  try {
    return (await run(command, args, options)).stdout;
  } catch (error) {
    if (error.code === 1 && error.stdout) return error.stdout;
    throw new Error((error.stderr || error.message).trim().split('\n').at(-1), { cause: error });
  }
}

// The first of each lowering is the widest; `attn bench --list` names what it would measure.
async function widest(program) {
  const list = await output(program[0], [...program.slice(1), 'bench', '--list']);
  const first = (lowering) => list.match(new RegExp(`^attention.*/(${lowering}:\\S+)$`, 'm'))?.[1];
  return { W: first('highway'), X: first('xsimd') };
}

async function bench(program, names, seconds, backends, args) {
  const known = backends.map((name) => names[name] ?? name);
  const text = await output(program[0], [
    ...program.slice(1),
    ...['bench', '--json', '--seconds', String(seconds), '--backend', ...new Set(known)],
    ...args,
  ]);
  const { context, benchmarks } = JSON.parse(text);
  return { context, rows: new Rows(benchmarks, names) };
}

// What two programs at once reach of twice what one does: cores that are halves of one reach little
// more than one, and no kernel gains there what two threads would.
async function sideBySide(program, names, seconds) {
  const [shape] = shapes.attention;
  const peakOf = async () =>
    (await bench(program, names, seconds, ['W'], ['--shape', shape])).rows.get(
      `attention_forward/${shape}/f32/flash/W`,
    ).peak_flops_per_second;
  const one = await peakOf();
  const two = await Promise.all([peakOf(), peakOf()]);
  return (two[0] + two[1]) / one;
}

async function pytorch(seconds) {
  const python = process.env.PEER_PYTHON ?? 'python3';
  try {
    await run(python, ['-c', 'import torch']);
  } catch {
    return { missing: `${python} has no PyTorch; PEER_PYTHON names one that has` };
  }
  const { context, benchmarks } = JSON.parse(
    await output('bench/peers/run.sh', ['--json', '--seconds', String(seconds), ...shapes.PyTorch]),
  );
  return { context, rows: new Rows(benchmarks) };
}

async function onnxruntimeWeb(seconds) {
  const script = [
    'bench/peers/onnxruntime_web.mjs',
    '--json',
    '--seconds',
    String(seconds),
    ...shapes['onnxruntime-web'],
  ];
  try {
    await run(process.execPath, [...script, '--list'], { cwd: root });
  } catch (error) {
    if (error.code !== 3) throw error;
    return { missing: 'no onnxruntime-web; PEER_NODE_MODULES names a folder that has it' };
  }
  const { context, benchmarks } = JSON.parse(await output(process.execPath, script));
  return { context, rows: new Rows(benchmarks) };
}

async function wasmThreads() {
  const text = await output(process.execPath, [...relaxedFlags, 'bench/threads.mjs', '--json']);
  const { context, benchmarks } = JSON.parse(text);
  return { context, rows: new Rows(benchmarks) };
}

// name -> () => { rows, context } or { missing }. `under`: a command that one-threaded native
// programs are started with, such as chrt -f 50 taskset -c 1.
export async function partsOfThisMachine({ seconds, under }) {
  const native = ['build/bin/attn'];
  const alone = [...under, ...native];
  const names = await widest(native);
  const measure = (backends, ...args) => bench(alone, names, seconds, backends, args);
  const node = (file, flags) => async () => {
    const program = [process.execPath, ...flags, `build/bin/${file}.mjs`];
    const wasm = await widest(program);
    return bench(program, wasm, seconds, ['W'], ['--shape', ...shapes.attention]);
  };
  const backends = names.W === 'highway:AVX2' ? ['W', 'X'] : ['W', 'X', 'highway:AVX2'];
  return {
    native: () => measure(backends, '--shape', ...shapes.attention, '--op', 'forward', 'backward'),
    bf16: () => measure(['W'], '--shape', ...shapes.attention, '--dtype', 'f32', 'bf16'),
    decode: () =>
      measure(['W'], '--shape', ...shapes.decode, '--form', 'decode', '--dtype', 'f32', 'bf16'),
    product: () => measure(['W'], '--op', 'matmul'),
    rows: () => measure(['W'], '--op', 'rms_norm', 'rotary'),
    threads: async () => {
      const args = [
        '--shape',
        ...shapes.attention,
        '--op',
        'forward',
        'backward',
        '--threads',
        '1',
        '2',
      ];
      const part = await bench(native, names, seconds, ['W'], args);
      part.context.side_by_side = await sideBySide(native, names, seconds);
      return part;
    },
    simd128: node('attn', []),
    relaxed: node('attn_relaxed', relaxedFlags),
    'wasm threads': wasmThreads,
    PyTorch: () => pytorch(seconds),
    'onnxruntime-web': () => onnxruntimeWeb(seconds),
  };
}
