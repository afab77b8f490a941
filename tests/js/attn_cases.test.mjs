// SPDX-License-Identifier: Apache-2.0
// The case files handed to the project, through JavaScript: every backend of the full module, f32
// and f64. What the fields mean is in the folder's cases.md.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fullModules } from './support_full.mjs';

const folder = new URL('../../../shared/cases/', import.meta.url);
const names = existsSync(folder)
  ? readdirSync(folder).filter((name) => /^(attn_|merge_states|blog_).*\.json$/.test(name))
  : [];

const number = (x) => (typeof x === 'string' ? Number(x.replace('inf', 'Infinity')) : Number(x));

/** {shape, values} of a nested list, or of a view {data, shape, strides, offset}. */
function dense(input) {
  if (Array.isArray(input)) {
    const shape = [];
    for (let at = input; Array.isArray(at); at = at[0]) shape.push(at.length);
    return { shape, values: input.flat(Infinity).map(number) };
  }
  const { data, shape, strides, offset = 0 } = input;
  const values = [];
  const walk = (axis, at) => {
    if (axis === shape.length) values.push(number(data[at]));
    else for (let i = 0; i < shape[axis]; ++i) walk(axis + 1, at + i * strides[axis]);
  };
  walk(0, offset);
  return { shape, values };
}

const jsNames = {
  mask_keep: 'maskKeep',
  mask_add: 'maskAdd',
  sinks: 'sinks',
  kv_lens: 'kvLens',
  cu_seqlens_q: 'cuSeqlensQ',
  cu_seqlens_k: 'cuSeqlensK',
};

function attention(attn, { params, inputs, expected }, Type, backend, kvSplits) {
  const given = Object.fromEntries(Object.entries(inputs).map(([key, x]) => [key, dense(x)]));
  const typed = (key) => Type.from(given[key].values);
  const packed = given.cu_seqlens_q !== undefined;
  const [q, k, v] = ['Q', 'K', 'V'].map((key) => (packed ? [1] : []).concat(given[key].shape));
  const a = {
    q: typed('Q'),
    k: typed('K'),
    v: typed('V'),
    shape: {
      batch: q[0],
      queryHeads: q[1],
      kvHeads: k[1],
      queries: q[2],
      keys: k[2],
      width: q[3],
      valueWidth: v[3],
    },
    backend,
  };
  for (const [key, name] of Object.entries(jsNames)) {
    if (given[key] === undefined) continue;
    const { shape, values } = given[key];
    if (key.startsWith('mask')) a[`${name}Shape`] = [1, 1, 1, ...shape].slice(-4);
    a[name] = key === 'mask_keep' ? Uint8Array.from(values) : values;
    if (key === 'mask_add' || key === 'sinks') a[name] = Type.from(values);
  }
  if (params.scale !== undefined) a.scale = params.scale;
  if (params.causal !== undefined) a.causal = params.causal;
  if (params.align !== undefined) a.align = params.align;
  if (params.query_offset !== undefined) a.queryOffset = params.query_offset;
  if (params.softcap !== undefined) a.softcap = params.softcap;
  if (params.window !== undefined) {
    const [left, right] = params.window;
    a.window = { ...(left === null ? {} : { left }), ...(right === null ? {} : { right }) };
  }
  const split = kvSplits === undefined ? {} : { form: 'decode', kvSplits };
  const { o, lse } = attn.attentionForward({ ...a, ...split });
  if (!Object.keys(expected).some((name) => name.startsWith('d'))) return { O: o, LSE: lse };
  const { dq, dk, dv, dSinks } = attn.attentionBackward({
    ...a,
    o,
    lse,
    dO: given.dO === undefined ? new Type(o.length) : typed('dO'),
    ...(given.dLSE === undefined ? {} : { dLse: typed('dLSE') }),
  });
  return { O: o, LSE: lse, dQ: dq, dK: dk, dV: dv, dSinks };
}

function merge(attn, { inputs }, Type) {
  const of = (key) => Type.from(dense(inputs[key]).values);
  const [rows, valueWidth] = dense(inputs.O_a).shape;
  const { o, lse } = attn.mergeStates({
    a: { o: of('O_a'), lse: of('LSE_a') },
    b: { o: of('O_b'), lse: of('LSE_b') },
    rows,
    valueWidth,
  });
  return { O: o, LSE: lse };
}

function compare(got, expected, { atol, rtol }, what) {
  const { values } = dense(expected);
  assert.equal(got.length, values.length, what);
  values.forEach((wanted, i) => {
    const near = Number.isFinite(wanted)
      ? Math.abs(got[i] - wanted) <= atol + rtol * Math.abs(wanted)
      : Object.is(got[i], wanted);
    assert.ok(near, `${what}[${i}] is ${got[i]}, expected is ${wanted}`);
  });
}

for (const [variant, attn] of fullModules) {
  for (const name of names) {
    const file = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    test(`${variant}: ${name}`, () => {
      for (const [dtype, Type] of [
        ['f32', Float32Array],
        ['f64', Float64Array],
      ]) {
        for (const { name: backend, ...has } of attn.backends()) {
          if (!has[dtype]) continue;
          for (const kvSplits of file.params.kv_splits ?? [undefined]) {
            const got =
              file.op === 'attention'
                ? attention(attn, file, Type, backend, kvSplits)
                : merge(attn, file, Type);
            for (const [output, values] of Object.entries(file.expected)) {
              const what = `${dtype} ${backend} ${kvSplits ?? ''} ${output}`;
              compare(got[output], values, file.tolerance[dtype] ?? file.tolerance.f32, what);
            }
          }
        }
      }
    });
  }
}

if (names.length === 0) test('handed cases', (t) => t.skip('../shared/cases is not there'));
