// SPDX-License-Identifier: Apache-2.0
// The experiment of the shown state as a program.
import { encodeFields } from '../core/fragment.js';
import { kArticleDs, kKeys, kSeed, kTrials, type ScalingState, toFields } from './state.js';

const before = (d: number): number[] =>
  kArticleDs.includes(d as 16) ? kArticleDs.filter((at) => at < d) : [];

export function asNumpy(state: ScalingState): string {
  const { d, rule, temperature, softcap } = state;
  const scores = {
    raw: 'S = q @ K.T',
    sqrt: 'S = q @ K.T / np.sqrt(d)',
    d: 'S = q @ K.T / d',
    temperature: `S = q @ K.T / np.sqrt(d) / ${temperature}`,
    softcap: `S = ${softcap} * np.tanh(q @ K.T / ${softcap})`,
    qknorm: `q, K = (x / np.sqrt((x * x).mean(axis=1, keepdims=True)) for x in (q, K))
S = q @ K.T / np.sqrt(d)`,
  }[rule];
  return `import numpy as np

rng = np.random.default_rng(${kSeed})
for d in [${[...before(d), d].join(', ')}]:  # one generator: the last d is the one shown
    q = rng.standard_normal((${kTrials}, d))
    K = rng.standard_normal((${kKeys}, d))
${scores}
E = np.exp(S - S.max(axis=1, keepdims=True))
P = E / E.sum(axis=1, keepdims=True)
H = -(P * np.log(P + 1e-300)).sum(axis=1).mean()
top = P.max(axis=1)
print(f"d={d} spread {S.std():.2f}  top weight {top.mean():.3f}  entropy {H:.2f}"
      f"  effective {np.exp(H):.1f}  rows with top > 0.99: {np.mean(top > 0.99):.0%}")
`;
}

export function asCpp(state: ScalingState): string {
  const { d, rule, temperature, softcap } = state;
  const divisor = {
    raw: 'kOne',
    sqrt: 'kSqrtD',
    d: 'kD',
    temperature: 'kSqrtD',
    softcap: 'kOne',
    qknorm: 'kSqrtD',
  }[rule];
  const more =
    rule === 'temperature'
      ? `\n  rule.temperature = ${temperature};`
      : rule === 'softcap'
        ? `\n  rule.softcap = ${softcap};`
        : rule === 'qknorm'
          ? '\n  rule.qk_norm = true;'
          : '';
  return `#include <cstdio>

#include "attn/experiment.h"

int main() {
  attn::ScalingExperiment experiment(${kSeed}, ${kTrials}, ${kKeys});
  for (const int d : {${[...before(d), d].join(', ')}}) {  // one generator: the last d is the one shown
    if (!experiment.Begin(d).ok()) return 2;
  }
  experiment.Advance(${kTrials});
  attn::ScoreRule rule;
  rule.divisor = attn::ScoreDivisor::${divisor};${more}
  const auto row = experiment.Measure(rule);
  if (!row.ok()) return 2;
  std::printf("spread %.2f  top %.3f  entropy %.2f  effective %.1f  saturated %.0f %%\\n", row->spread,
              row->top, row->entropy, row->effective, 100 * row->saturated);
}
`;
}

export function asEmbed(state: ScalingState, tag: string): string {
  return `<!-- serve attn-scaling.js and the files beside it from your own site -->
<script type="module" src="attn-scaling.js"></script>
<${tag} state="${encodeFields(toFields(state))}"></${tag}>
`;
}

export function copies(
  state: ScalingState,
  tag: string,
  embedLabel: string,
): { what: string; label: string; text: () => string }[] {
  return [
    { what: 'numpy', label: 'NumPy', text: () => asNumpy(state) },
    { what: 'cpp', label: 'C++', text: () => asCpp(state) },
    { what: 'embed', label: embedLabel, text: () => asEmbed(state, tag) },
  ];
}
