// SPDX-License-Identifier: Apache-2.0
// The programs that measure: each part of the goals is one command, whose rows come back as JSON.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import process from 'node:process';
import { relaxedFlags } from '../../tools/relaxed_flag.mjs';
import { shapes } from './list.mjs';
import { Rows } from './measured.mjs';

// Whole paths, so that everything runs where the user is: PEER_PYTHON may be relative to that.
const file = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const run = promisify(execFile);

// Exit code 1 comes with the rows that are void; others come with a message and none.
async function output(command, args) {
  try {
    return (await run(command, args, { maxBuffer: 1 << 28 })).stdout;
  } catch (error) {
    if (error.code === 1 && error.stdout) return error.stdout;
    throw new Error((error.stderr || error.message).trim().split('\n').at(-1), { cause: error });
  }
}

async function measured(command, args, names) {
  const { context, benchmarks } = JSON.parse(await output(command, args));
  return { context, rows: new Rows(benchmarks, names) };
}

// The first of each lowering is the widest; `attn bench --list` names what it would measure.
async function widest(program) {
  const list = await output(program[0], [...program.slice(1), 'bench', '--list']);
  const first = (lowering) => list.match(new RegExp(`^attention.*/(${lowering}:\\S+)$`, 'm'))?.[1];
  return { W: first('highway'), X: first('xsimd') };
}

function bench(program, names, seconds, backends, args) {
  const known = backends.map((name) => names[name] ?? name);
  const common = ['bench', '--json', '--seconds', String(seconds), '--backend', ...new Set(known)];
  return measured(program[0], [...program.slice(1), ...common, ...args], names);
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
  const options = ['--json', '--seconds', String(seconds)];
  return measured(file('bench/peers/run.sh'), [...options, ...shapes.PyTorch]);
}

async function onnxruntimeWeb(seconds) {
  const options = ['--json', '--seconds', String(seconds)];
  const script = [
    file('bench/peers/onnxruntime_web.mjs'),
    ...options,
    ...shapes['onnxruntime-web'],
  ];
  try {
    await run(process.execPath, [...script, '--list']);
  } catch (error) {
    if (error.code !== 3) throw error;
    return { missing: 'no onnxruntime-web; PEER_NODE_MODULES names a folder that has it' };
  }
  return measured(process.execPath, script);
}

// name -> () => { rows, context } or { missing }. `under`: a command that one-threaded native
// programs are started with, such as chrt -f 50 taskset -c 1.
export async function partsOfThisMachine({ seconds, under }) {
  const native = [file('build/bin/attn')];
  const alone = [...under, ...native];
  const names = await widest(native);
  const measure = (backends, ...args) => bench(alone, names, seconds, backends, args);
  const node = (flags, module) => async () => {
    const program = [process.execPath, ...flags, file(`build/bin/${module}`)];
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
      const shape = ['--shape', ...shapes.attention];
      const args = ['--op', 'forward', 'backward', '--threads', '1', '2'];
      const part = await bench(native, names, seconds, ['W'], [...shape, ...args]);
      part.context.side_by_side = await sideBySide(native, names, seconds);
      return part;
    },
    simd128: node([], 'attn.mjs'),
    relaxed: node(relaxedFlags, 'attn_relaxed.mjs'),
    'wasm threads': () =>
      measured(process.execPath, [...relaxedFlags, file('bench/threads.mjs'), '--json']),
    PyTorch: () => pytorch(seconds),
    'onnxruntime-web': () => onnxruntimeWeb(seconds),
  };
}
