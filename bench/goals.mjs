// SPDX-License-Identifier: Apache-2.0
// node bench/goals.mjs [--seconds S] [--only PART,...] [--under COMMAND] [--json]: every speed goal
// beside what this machine reaches now. Wants what `make build` makes; `make goals` does both.
// Exit code: 0, goals that fall short included; 1 when something that ought to be measured was not
// or is void; 2 for bad usage. Peers that are not installed are named.
import process from 'node:process';
import { goals } from './goals/list.mjs';
import { outcomes, table } from './goals/measured.mjs';
import { partsOfThisMachine } from './goals/parts.mjs';
import { commandLine, fail, secondsOf } from './script.mjs';

const text = { type: 'string' };
const { values: given, positionals } = commandLine({
  seconds: text,
  only: text,
  under: text,
  json: { type: 'boolean' },
});
if (positionals.length > 0) fail(`"${positionals[0]}": nothing but options is expected`);
const seconds = secondsOf(given.seconds);
const under = given.under?.split(' ').filter(Boolean) ?? [];

let programs;
try {
  programs = await partsOfThisMachine({ seconds, under });
} catch (error) {
  fail(`${error.message} (make build makes what is measured)`);
}
const names = Object.keys(programs);
const wanted = given.only?.split(',') ?? names;
for (const name of wanted) {
  if (!names.includes(name)) fail(`--only ${name}: parts are ${names.join(', ')}`);
}

const parts = new Map();
const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
for (const [at, name] of wanted.entries()) {
  console.error(`[${at + 1}/${wanted.length}] ${name}`);
  try {
    parts.set(name, await programs[name]());
  } catch (error) {
    parts.set(name, { missing: error.message, failed: true });
  }
}

const rows = outcomes(goals, parts);
const context = Object.fromEntries([...parts].map(([name, part]) => [name, part.context ?? null]));
if (given.json) {
  console.log(JSON.stringify({ date, context, goals: rows }, undefined, 1));
} else {
  const first = Object.values(context).find((one) => one?.cpu_model);
  const machine = first
    ? `${first.cpu_model}, ${first.num_cpus} CPUs; ${first.compiler}; commit ${first.commit}; `
    : '';
  console.log(`Speed goals, ${date} UTC; ${machine}Node ${process.versions.node}\n`);
  console.log(table(rows));
  const together = context.threads?.side_by_side;
  if (together) {
    console.log(
      `\nTwo programs side by side reach ${together.toFixed(2)} times the peak of one alone: ` +
        'more is not in this machine for two threads.',
    );
  }
  const { torch, torch_isa } = context.PyTorch ?? {};
  if (torch) console.log(`PyTorch ${torch} (${torch_isa}).`);
  const ort = context['onnxruntime-web']?.onnxruntime_web;
  if (ort) console.log(`onnxruntime-web ${ort}.`);
}
const failed = [...parts.values()].some((part) => part.failed);
process.exitCode = failed || rows.some((row) => row.error) ? 1 : 0;
