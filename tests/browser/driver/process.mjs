// SPDX-License-Identifier: Apache-2.0
// Processes and time limits shared by the three engines. A browser that hangs is the normal way for
// one to fail, so nothing here waits without a limit and nothing that was started outlives us.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A browser or a tool that is not installed: the runner turns it into exit code 2. */
export class MissingError extends Error {}

/** Rejects with `what` when `promise` takes longer than `ms`. */
export function within(ms, what, promise) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer within ${ms} ms`)), ms);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The first candidate that can be run: names are looked up in PATH, paths are taken as they are. */
export function findProgram(engine, candidates, debianPackage) {
  for (const name of candidates) {
    const places = name.includes('/')
      ? [name]
      : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
    for (const place of places) {
      if (!existsSync(place)) continue;
      try {
        accessSync(place, constants.X_OK);
        return place;
      } catch {
        // Present but not executable: keep looking.
      }
    }
  }
  throw new MissingError(
    `${engine}: no ${candidates.join(' or ')} found; install the Debian package ${debianPackage}`,
  );
}

const live = new Set();
const folders = new Set();

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

/** Starts a program in a process group of its own, so that its helpers end with it. */
export function start(program, args, options = {}) {
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  child.failed = new Promise((_, reject) => {
    child.once('error', (error) => reject(new Error(`${program}: ${error.message}`)));
    child.once('exit', (code, signal) => reject(new Error(`${program} ended (${signal ?? code})`)));
  });
  child.failed.catch(() => {});
  child.stderr?.resume();
  live.add(child);
  child.once('exit', () => live.delete(child));
  return child;
}

/** Ends a program and its helpers; returns when it is gone. */
export async function stop(child) {
  if (!child) return;
  killGroup(child);
  if (child.exitCode === null && child.signalCode === null) {
    await Promise.race([new Promise((resolve) => child.once('exit', resolve)), sleep(2000)]);
  }
  live.delete(child);
}

/** A folder that is removed when the process ends, or earlier by dropFolder. */
export function scratchFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `attn-${name}-`));
  folders.add(folder);
  return folder;
}

export function dropFolder(folder) {
  // A browser that was just killed can still be writing: retry, and leave it to the exit hook if not.
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
    folders.delete(folder);
  } catch {
    // The exit hook tries again.
  }
}

function cleanUp() {
  for (const child of live) killGroup(child);
  for (const folder of folders) dropFolder(folder);
}
process.once('exit', cleanUp);
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]) {
  process.once(signal, () => process.exit(code));
}
