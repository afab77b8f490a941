// SPDX-License-Identifier: Apache-2.0
// Runs a program with a time limit; what it left running goes with it.
import { spawn } from 'node:child_process';

// -> {code, output, seconds, ended}: ended says in words how it went where that was not an exit code.
export function run(command, args, { timeout = 300, env = {}, cwd } = {}) {
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      detached: true, // its own process group, so that a browser it started ends with it
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let ended = '';
    const endGroup = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The group is gone already.
      }
    };
    // SIGTERM first: a script that itself uses run() passes it on to groups that we cannot see.
    const timer = setTimeout(() => {
      ended = `stopped after ${timeout} s`;
      endGroup('SIGTERM');
      setTimeout(() => endGroup('SIGKILL'), 2000).unref();
    }, timeout * 1000);
    let leaving = false;
    const interrupted = () => {
      leaving = true; // no result: what was interrupted has neither passed nor failed
      endGroup('SIGTERM');
      setTimeout(() => process.exit(130), 500);
    };
    process.once('SIGINT', interrupted);
    process.once('SIGTERM', interrupted);
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    const finish = (code) => {
      if (leaving) return;
      clearTimeout(timer);
      process.off('SIGINT', interrupted);
      process.off('SIGTERM', interrupted);
      endGroup('SIGKILL');
      resolve({ code, output, seconds: (performance.now() - start) / 1000, ended });
    };
    child.on('error', (error) => {
      ended = `could not be started: ${error.message}`;
      finish(-1);
    });
    child.on('close', (code, signal) => {
      if (signal && !ended) ended = `ended by ${signal}`;
      finish(code ?? -1);
    });
  });
}
