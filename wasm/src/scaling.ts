// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import {
  argument,
  boolean,
  choice,
  finite,
  integer,
  list,
  options,
  seed64,
  type Names,
} from './check.js';
import { invalid } from './errors.js';
import { Handle } from './handle.js';
import type { WasmModule } from './module.js';
import { numbers, one, takeResult } from './result.js';
import type { ScalingArguments, ScalingExperiment, ScalingRow, ScoreRule } from './types.js';

const divisors = ['one', 'sqrt_d', 'd'] as const;

const names: Names<ScalingArguments> = { seed: true, trials: true, keys: true };
const ruleNames: Names<ScoreRule> = {
  divisor: true,
  temperature: true,
  softcap: true,
  qkNorm: true,
};

// Of ScalingExperiment::Begin in lib/model/scaling.cc, which would refuse every d: said at once.
const largestSize = 2 ** 16;
const largestProduct = 2 ** 24;

function sizes({ trials, keys }: ScalingArguments): [bigint, bigint] {
  for (const [name, value] of Object.entries({ trials, keys })) {
    if (integer(name, value, 1) > largestSize) {
      throw invalid(`${name} is ${value}, at most ${largestSize} is possible`);
    }
  }
  if (trials * keys > largestProduct) {
    throw invalid(
      `trials x keys is ${trials} x ${keys} = ${trials * keys}, at most ${largestProduct} is possible`,
    );
  }
  return [BigInt(trials), BigInt(keys)];
}

const checkRule = (name: string, rule: ScoreRule): ScoreRule => options(name, rule, ruleNames);

export class Scaling extends Handle implements ScalingExperiment {
  readonly trials: number;
  readonly keys: number;

  constructor(module: WasmModule, a: ScalingArguments) {
    const { seed, trials, keys } = argument('scaling.create', a, names);
    const args = [seed64('seed', seed), ...sizes(a)];
    const pointer = new Call(module).create('attn_scaling_create', args);
    super(module, 'experiment', pointer, 'attn_scaling_free');
    this.trials = trials;
    this.keys = keys;
  }

  begin(d: number): void {
    this.module.check('attn_scaling_begin', this.pointer, BigInt(integer('d', d)));
  }

  advance(queries: number): number {
    const args = [this.pointer, BigInt(integer('queries', queries))];
    return new Call(this.module).count('attn_scaling_advance', args);
  }

  measure(rule: ScoreRule = {}): ScalingRow {
    return this.#measure('rule', rule);
  }

  #measure(name: string, rule: ScoreRule): ScalingRow {
    const { divisor = 'sqrt_d', temperature = 1, softcap = 0, qkNorm } = checkRule(name, rule);
    const call = new Call(this.module);
    const struct = call.struct(
      'iiidd',
      choice(`${name}.divisor`, divisor, divisors),
      boolean(`${name}.qkNorm`, qkNorm) ? 1 : 0,
      0,
      finite(`${name}.temperature`, temperature),
      finite(`${name}.softcap`, softcap),
    );
    const fields = takeResult(
      this.module,
      call.create('attn_scaling_measure', [this.pointer, struct]),
    );
    return {
      d: one(fields, 'd'),
      spread: one(fields, 'spread'),
      top: one(fields, 'top'),
      entropy: one(fields, 'entropy'),
      effective: one(fields, 'effective'),
      saturated: one(fields, 'saturated'),
      low: one(fields, 'low'),
      high: one(fields, 'high'),
      histogram: numbers(fields, 'histogram'),
    };
  }

  step(d: number, rules: readonly ScoreRule[]): ScalingRow[] {
    // Before the draws, which would otherwise have moved the stream on.
    list('rules', rules).forEach((rule, i) => checkRule(`rules[${i}]`, rule));
    this.begin(d);
    this.advance(this.trials);
    return rules.map((rule, i) => this.#measure(`rules[${i}]`, rule));
  }
}
