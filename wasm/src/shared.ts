// SPDX-License-Identifier: Apache-2.0
// What the module with threads asks of its host, on every thread (abi/workers.cc).

export interface Imports extends WebAssembly.Imports {
  env: {
    memory: WebAssembly.Memory;
    /** Sleeps while the number at this address is `old`, where this thread may sleep. */
    wait(at: number, old: number): void;
  };
}

export function imports(memory: WebAssembly.Memory): Imports {
  const wait = maySleep()
    ? (at: number, old: number) => void Atomics.wait(new Int32Array(memory.buffer), at >>> 2, old)
    : () => {};
  return { env: { memory, wait } };
}

/** A page's main thread must not; it spins, for the rest of one item at most. */
function maySleep(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}
