// SPDX-License-Identifier: Apache-2.0
import { Call } from './call.js';
import { backendName } from './backends.js';
import type { WasmModule } from './module.js';
import { numbers, one, takeResult, words, type Fields } from './result.js';
import type { Figure, FigureLeaf, FigureValue } from './types.js';

export function report(module: WasmModule, backend?: string): Figure[] {
  const call = new Call(module);
  const name = call.name(backendName(module, backend));
  const made = call.create('attn_report_create', [name]);
  try {
    const count = Number(module.call('attn_report_count', made));
    return Array.from({ length: count }, (_, i) =>
      figure(takeResult(module, new Call(module).create('attn_report_figure', [made, i]))),
    );
  } finally {
    module.callIfAlive('attn_report_free', made);
  }
}

function figure(fields: Fields): Figure {
  const verdict = words(fields, 'verdict') as Figure['verdict'];
  const published = JSON.parse(words(fields, 'published')) as FigureValue;
  const value = numbers(fields, 'leaf_numbers');
  const texts = words(fields, 'leaf_text').split('\n');
  const printed = words(fields, 'leaf_published').split('\n');
  const leaves = Array.from(value, (computed, i): FigureLeaf => {
    const text = texts[i] ?? '';
    return {
      published: printed[i] ?? '',
      computed: text === '' ? computed : text,
      agrees: numbers(fields, 'leaf_agrees')[i] === 1,
      digits: numbers(fields, 'leaf_digits')[i] as number,
    };
  });
  const computed = verdict === 'agrees' || verdict === 'differs';
  const note = words(fields, 'note');
  return {
    id: words(fields, 'id'),
    step: one(fields, 'step'),
    what: words(fields, 'what'),
    compare: words(fields, 'compare') as Figure['compare'],
    published,
    computed: computed
      ? replaced(
          published,
          leaves.map((leaf) => leaf.computed),
        )
      : null,
    verdict,
    digits: fields['digits'] === undefined ? null : one(fields, 'digits'),
    ...(note === '' ? {} : { note }),
    leaves: computed ? leaves : [],
  };
}

/** The same arrangement with the scalars, in their order, replaced. */
function replaced(json: FigureValue, scalars: (number | string)[]): FigureValue {
  if (Array.isArray(json)) return json.map((item) => replaced(item, scalars));
  if (typeof json === 'object') {
    return Object.fromEntries(
      Object.entries(json).map(([key, item]) => [key, replaced(item, scalars)]),
    );
  }
  return scalars.shift() as number | string;
}
