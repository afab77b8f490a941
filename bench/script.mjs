// SPDX-License-Identifier: Apache-2.0
// What the scripts of this folder share: their options, their errors, medians of times.
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import process from 'node:process';

// Exit code 2 is bad usage.
export function fail(message, code = 2) {
  console.error(`${basename(process.argv[1])}: error: ${message}`);
  process.exit(code);
}

// { values, positionals } of the command line; the one who calls checks positionals.
export function commandLine(options) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail(error.message);
  }
}

export function secondsOf(text = '1') {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds < 1000))
    fail(`--seconds ${text}: needed is a number above 0 and below 1000`);
  return seconds;
}

export const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];

// How many times faster the second is: of neighbours in time, so that drift cancels.
export const medianRatio = (times, faster) => median(times.map((time, i) => time / faster[i]));
