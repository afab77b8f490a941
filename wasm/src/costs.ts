// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { boolean, integer, list, options, type Names } from './check.js';
import type { WasmModule } from './module.js';
import { numbers, one, takeResult, words, type Fields } from './result.js';
import type {
  CostAt,
  CostAtArguments,
  CostRow,
  Costs,
  ModelCosts,
  ModelShape,
  NamedModel,
} from './types.js';

// attn_model_shape, in its order after `reserved`.
const extents = [
  ['layers', 1],
  ['attentionLayers', 1],
  ['dModel', 1],
  ['heads', 1],
  ['kvHeads', 1],
  ['dHead', 1],
  ['dLatent', 0],
  ['dRope', 0],
  ['dQueryLatent', 0],
] as const;

// The last five are not read: those of models() go in as they are.
const modelNames: Names<NamedModel> = {
  layers: true,
  attentionLayers: true,
  dModel: true,
  heads: true,
  kvHeads: true,
  dHead: true,
  dLatent: true,
  dRope: true,
  dQueryLatent: true,
  id: true,
  name: true,
  source: true,
  queryScalar: true,
  softcap: true,
};
const atNames: Names<CostAtArguments> = { n: true, d: true, causal: true, bytesPerNumber: true };

function defaults(model: ModelShape) {
  const { layers, dModel, heads, dHead, ...rest } = options('model', model, modelNames);
  const { attentionLayers = layers, kvHeads = heads } = rest;
  const { dLatent = 0, dRope = 0, dQueryLatent = 0 } = rest;
  return {
    layers,
    attentionLayers,
    dModel,
    heads,
    kvHeads,
    dHead,
    dLatent,
    dRope,
    dQueryLatent,
  };
}

function modelStruct(call: Call, model: ModelShape) {
  const full = defaults(model);
  const values = extents.map(([name, least]) => integer(`model.${name}`, full[name], least));
  return call.struct('iqqqqqqqqq', 0, ...values);
}

function namedModel(fields: Fields): NamedModel {
  const count = (name: string): number => one(fields, name);
  return {
    id: words(fields, 'id'),
    name: words(fields, 'name'),
    source: words(fields, 'source'),
    layers: count('layers'),
    attentionLayers: count('attention_layers'),
    dModel: count('d_model'),
    heads: count('heads'),
    kvHeads: count('kv_heads'),
    dHead: count('d_head'),
    dLatent: count('d_latent'),
    dRope: count('d_rope'),
    dQueryLatent: count('d_query_latent'),
    queryScalar: count('query_scalar'),
    softcap: count('softcap'),
  };
}

function ofModel(module: WasmModule, model: ModelShape): ModelCosts {
  const call = new Call(module);
  const fields = takeResult(module, call.create('attn_model_costs', [modelStruct(call, model)]));
  const count = (name: string): number => one(fields, name);
  return {
    projectionWeights: count('projection_weights'),
    projectionFlopsPerToken: count('projection_flops_per_token'),
    crossoverToken: count('crossover_token'),
    crossoverPrompt: count('crossover_prompt'),
    cacheNumbers: count('cache_numbers'),
    cacheNumbersUnshared: count('cache_numbers_unshared'),
    cacheSaving: count('cache_saving'),
    multiQuerySaving: count('multi_query_saving'),
    equivalentGroups: count('equivalent_groups'),
    circuit: {
      entries: count('circuit_entries'),
      factorEntries: count('circuit_factor_entries'),
      rankBound: count('circuit_rank_bound'),
      headsCover: count('circuit_heads_cover'),
    },
  };
}

function table(module: WasmModule, model: ModelShape, lengths?: readonly number[]): CostRow[] {
  const call = new Call(module);
  let at: ReturnType<Call['raw']> | 0 = 0;
  if (lengths !== undefined) {
    const values = list('lengths', lengths).map((n, i) => BigInt(integer(`lengths[${i}]`, n)));
    at = call.raw(new Uint8Array(BigInt64Array.from(values).buffer));
  }
  const count = BigInt(lengths?.length ?? 0);
  const args = [modelStruct(call, model), at, count];
  const fields = takeResult(module, call.create('attn_cost_table', args));
  return Array.from(numbers(fields, 'n'), (n, i) => {
    const cell = (name: string): number => numbers(fields, name)[i] as number;
    return {
      n,
      headScores: cell('head_scores'),
      headFlops: cell('head_flops'),
      headFlopsLinear: cell('head_flops_linear'),
      modelAttention: cell('model_attention'),
      modelProjections: cell('model_projections'),
      cacheBytes: cell('cache_bytes'),
    };
  });
}

function at(module: WasmModule, model: ModelShape, a: CostAtArguments): CostAt {
  const call = new Call(module);
  const struct = modelStruct(call, model);
  const known = options('the second argument of costs.at', a, atNames, '');
  const { n, d = model.dHead, causal, bytesPerNumber = 2 } = known;
  const args = [
    struct,
    BigInt(integer('n', n)),
    BigInt(integer('d', d)),
    boolean('causal', causal) ? 1 : 0,
    BigInt(integer('bytesPerNumber', bytesPerNumber)),
  ];
  const fields = takeResult(module, call.create('attn_cost_at', args));
  return {
    pairs: one(fields, 'pairs'),
    softmaxFlops: one(fields, 'softmax_flops'),
    linearFlops: one(fields, 'linear_flops'),
    linearStateNumbers: one(fields, 'linear_state_numbers'),
    attentionFlopsAt: one(fields, 'attention_flops_at'),
    cacheBytes: one(fields, 'cache_bytes'),
  };
}

export function costs(module: WasmModule): Costs {
  return {
    models: () => {
      const count = Number(module.call('attn_model_count'));
      return Array.from({ length: count }, (_, i) =>
        namedModel(takeResult(module, new Call(module).create('attn_model_get', [i]))),
      );
    },
    ofModel: (model) => ofModel(module, model),
    table: (model, lengths) => table(module, model, lengths),
    at: (model, a) => at(module, model, a),
  };
}
