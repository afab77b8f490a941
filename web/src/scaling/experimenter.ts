// SPDX-License-Identifier: Apache-2.0
// Runs the module's experiment in slices, so that whoever waits can be told how far it is, and can stop it.
import {
  loadModule,
  Scaling,
  type ScalingExperiment,
  type ScalingRow,
  type ScoreRule,
  type WasmModule,
} from 'attn/parts';

export interface Job {
  d: number;
  /** Drawn before d from the same generator; the article's d = 128 comes after 16 and 64. */
  before: readonly number[];
  rules: readonly ScoreRule[];
  seed: number;
  trials: number;
  keys: number;
}

export class Stopped extends Error {
  constructor() {
    super('stopped');
  }
}

/** About 10 ms of work at d = 128: short enough to stop at once, long enough not to notice the pauses. */
const kSlice = 32;

export class Experimenter {
  private module: Promise<WasmModule>;
  private experiment: ScalingExperiment | undefined;
  private drawn = '';
  private run = 0;

  constructor(wasmUrl?: string) {
    this.module = loadModule(wasmUrl === undefined ? {} : { wasmUrl });
    this.module.catch(() => {}); // told to whoever measures
  }

  stop(): void {
    ++this.run;
  }

  free(): void {
    this.stop();
    this.experiment?.free();
    this.experiment = undefined;
    this.drawn = '';
  }

  async measure(job: Job, progress: (done: number) => void): Promise<ScalingRow[]> {
    const run = ++this.run;
    const module = await this.module;
    if (run !== this.run) throw new Stopped();
    const id = JSON.stringify([job.seed, job.trials, job.keys, job.before, job.d]);
    if (id !== this.drawn) {
      const { seed, trials, keys } = job;
      this.experiment?.free();
      this.drawn = '';
      this.experiment = new Scaling(module, { seed, trials, keys });
      for (const d of job.before) this.experiment.begin(d);
      this.experiment.begin(job.d);
      for (let left = job.trials; left > 0;) {
        left = this.experiment.advance(kSlice);
        progress((job.trials - left) / job.trials);
        await pause();
        if (run !== this.run) throw new Stopped();
      }
      this.drawn = id;
    }
    const rows: ScalingRow[] = [];
    for (const rule of job.rules) {
      rows.push(this.experiment!.measure(rule));
      await pause();
      if (run !== this.run) throw new Stopped();
    }
    return rows;
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
