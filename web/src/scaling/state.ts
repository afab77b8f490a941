// SPDX-License-Identifier: Apache-2.0
import type { ScoreRule } from 'attn';
import { choice, clamp, type Fields, integer } from '../core/fragment.js';

export const kRules = ['raw', 'sqrt', 'd', 'temperature', 'softcap', 'qknorm'] as const;
export type RuleName = (typeof kRules)[number];

export interface ScalingState {
  /** Entries of a query and a key. */
  d: number;
  rule: RuleName;
  /** Of the rule "temperature": scores / sqrt(d) / temperature. */
  temperature: number;
  /** Of the rule "softcap": cap tanh(q . k / cap). */
  softcap: number;
}

/** Where the slider stops: powers of two and the numbers half way between. */
export const kStops = [
  1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
] as const;
const kLargest = kStops[kStops.length - 1]!;

export const kTrials = 500;
export const kKeys = 1024;
export const kSeed = 0;
/** The article draws these one after the other from one generator. */
export const kArticleDs = [16, 64, 128, 256] as const;

export const article: ScalingState = { d: 128, rule: 'sqrt', temperature: 0.5, softcap: 5 };

export const temperatureOf = (value: number): number =>
  clamp(Math.round(value * 100) / 100, 0.05, 4, article.temperature);
export const softcapOf = (value: number): number =>
  clamp(Math.round(value * 2) / 2, 0.5, 60, article.softcap);

/** The rules of the library's ScoreRule. */
export function scoreRule({ rule, temperature, softcap }: ScalingState): ScoreRule {
  switch (rule) {
    case 'raw':
      return { divisor: 'one' };
    case 'sqrt':
      return { divisor: 'sqrt_d' };
    case 'd':
      return { divisor: 'd' };
    case 'temperature':
      return { divisor: 'sqrt_d', temperature };
    case 'softcap':
      return { divisor: 'one', softcap };
    case 'qknorm':
      return { divisor: 'sqrt_d', qkNorm: true };
  }
}

/** The same rule has the same id: results are kept under it. */
export function ruleId({
  divisor,
  temperature = 1,
  softcap = 0,
  qkNorm = false,
}: ScoreRule): string {
  return `${divisor}/${temperature}/${softcap}/${qkNorm}`;
}

export function toFields({ d, rule, temperature, softcap }: ScalingState): Fields {
  return { d: String(d), r: rule, t: String(temperature), c: String(softcap) };
}

export function fromFields(fields: Fields): ScalingState {
  return {
    d: integer(fields['d'], 1, kLargest, article.d),
    rule: choice(fields['r'], kRules, article.rule),
    temperature: temperatureOf(Number(fields['t'] ?? NaN)),
    softcap: softcapOf(Number(fields['c'] ?? NaN)),
  };
}
