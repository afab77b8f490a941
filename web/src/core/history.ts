// SPDX-License-Identifier: Apache-2.0

const kLimit = 200;

/** Undo and redo over immutable states. */
export class History<S> {
  private past: S[] = [];
  private future: S[] = [];

  constructor(private current: S) {}

  get state(): S {
    return this.current;
  }
  get canUndo(): boolean {
    return this.past.length > 0;
  }
  get canRedo(): boolean {
    return this.future.length > 0;
  }

  /** Begins anew from another state. */
  start(state: S): void {
    this.past = [];
    this.future = [];
    this.current = state;
  }

  commit(next: S): void {
    this.past.push(this.current);
    if (this.past.length > kLimit) this.past.shift();
    this.future = [];
    this.current = next;
  }

  undo(): boolean {
    return this.step(this.past, this.future);
  }

  redo(): boolean {
    return this.step(this.future, this.past);
  }

  private step(from: S[], to: S[]): boolean {
    const next = from.pop();
    if (next === undefined) return false;
    to.push(this.current);
    this.current = next;
    return true;
  }
}
