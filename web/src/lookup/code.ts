// SPDX-License-Identifier: Apache-2.0
// The state as a program. The C++ one compiles against attn::attn, the NumPy one needs nothing else.
import type { Matrix } from '../core/engine.js';
import { encodeFields } from '../core/fragment.js';
import { type LookupState, toFields } from './state.js';

const rows = (matrix: Matrix, open: string, close: string): string =>
  matrix.map((row) => `${open}${row.join(', ')}${close}`).join(', ');

export function asNumpy(state: LookupState): string {
  const { q, k, v, causal, scaled } = state;
  const mask = causal ? 'S += np.triu(np.full(S.shape, -np.inf), k=1)  # the future\n' : '';
  return `import numpy as np

Q = np.array([${rows(q, '[', ']')}], dtype=float)
K = np.array([${rows(k, '[', ']')}], dtype=float)
V = np.array([${rows(v, '[', ']')}], dtype=float)

S = Q @ K.T${scaled ? ' / np.sqrt(Q.shape[1])' : ''}
${mask}E = np.exp(S - S.max(axis=1, keepdims=True))
P = E / E.sum(axis=1, keepdims=True)
print(P[${state.query}])  # weights of token ${state.query + 1}
print((P @ V)[${state.query}])
`;
}

export function asCpp(state: LookupState): string {
  const { q, k, v, causal, scaled, query } = state;
  const n = q.length;
  const d = q[0]?.length ?? 0;
  const width = v[0]?.length ?? 0;
  const array = (name: string, matrix: Matrix): string =>
    `  const std::vector<float> ${name} = {${matrix.flat().join(', ')}};`;
  return `#include <cstdio>
#include <vector>

#include "attn/attention.h"

int main() {
${array('q', q)}
${array('k', k)}
${array('v', v)}
  std::vector<float> o(${n * width});
  attn::AttentionOptions options;
${scaled ? '' : '  options.scale = 1;\n'}${causal ? '  options.causal.enabled = true;\n' : ''}  const attn::AttentionInputs<float> inputs = {
      {q.data(), {1, 1, ${n}, ${d}}}, {k.data(), {1, 1, ${n}, ${d}}}, {v.data(), {1, 1, ${n}, ${width}}}};
  const attn::Status status = attn::AttentionForward<float>(
      attn::DefaultBackend(), inputs, options, {{o.data(), {1, 1, ${n}, ${width}}}, {}});
  if (!status.ok()) return std::fprintf(stderr, "%s\\n", status.message().c_str()), 2;
  for (int c = 0; c < ${width}; ++c) std::printf("%.3f ", o[${query} * ${width} + c]);
}
`;
}

export function asEmbed(state: LookupState, tag: string): string {
  return `<!-- serve attn-lookup.js and the files beside it from your own site -->
<script type="module" src="attn-lookup.js"></script>
<${tag} state="${encodeFields(toFields(state))}"></${tag}>
`;
}

export function copies(
  state: LookupState,
  tag: string,
  embedLabel: string,
): { what: string; label: string; text: () => string }[] {
  return [
    { what: 'numpy', label: 'NumPy', text: () => asNumpy(state) },
    { what: 'cpp', label: 'C++', text: () => asCpp(state) },
    { what: 'embed', label: embedLabel, text: () => asEmbed(state, tag) },
  ];
}
