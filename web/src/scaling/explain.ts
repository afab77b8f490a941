// SPDX-License-Identifier: Apache-2.0
import { html } from 'lit';
import type { CellPlace } from '../core/editor.js';
import type { Provenance } from '../core/provenance.js';
import { type AttnScaling, kRaw, kSqrt } from './element.js';
import { kMeasures, type Measure } from './pair.js';
import { kArticleDs, kKeys, kSeed, kTrials, scoreRule } from './state.js';
import { kColumns } from './table.js';

const formulas = {
  spread: html`<math
    ><mi>σ</mi><mo>=</mo
    ><msqrt
      ><mrow
        ><mi>mean</mi
        ><msup
          ><mrow
            ><mo>(</mo
            ><msub
              ><mi>s</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub
            ><mo>−</mo><mover><mi>s</mi><mo>¯</mo></mover
            ><mo>)</mo></mrow
          ><mn>2</mn></msup
        ></mrow
      ></msqrt
    ></math
  >`,
  top: html`<math
    ><msub><mi>mean</mi><mi>i</mi></msub
    ><munder><mi>max</mi><mi>j</mi></munder
    ><msub
      ><mi class="w">w</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub
    ></math
  >`,
  entropy: html`<math
    ><mi>H</mi><mo>=</mo><msub><mi>mean</mi><mi>i</mi></msub
    ><mrow
      ><mo>(</mo><mo>−</mo><munder><mo>∑</mo><mi>j</mi></munder
      ><msub
        ><mi class="w">w</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub
      ><mi>ln</mi
      ><msub
        ><mi class="w">w</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub
      ><mo>)</mo></mrow
    ></math
  >`,
  saturated: html`<math
    ><msub><mi>mean</mi><mi>i</mi></msub
    ><mrow
      ><mo>[</mo><munder><mi>max</mi><mi>j</mi></munder
      ><msub
        ><mi class="w">w</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub
      ><mo>&gt;</mo><mn>0.99</mn><mo>]</mo></mrow
    ></math
  >`,
  effective: html`<math
    ><msup><mi>e</mi><mi>H</mi></msup></math
  >`,
};

export function explain(host: AttnScaling, place: CellPlace | undefined): Provenance | undefined {
  if (!place) return undefined;
  const { grid, row, column } = place;
  const table = grid === 'table';
  const d = table ? kArticleDs[row >> 1] : host.shown.d;
  const rule = table ? (row % 2 ? kSqrt : kRaw) : column === 0 ? kRaw : scoreRule(host.shown);
  const measure: Measure | undefined = table ? kColumns[column] : kMeasures[row];
  const found = d === undefined ? undefined : host.row(d, rule);
  if (d === undefined || !measure || !found) return undefined;
  const inputs = host.t('inputs', { trials: kTrials, keys: kKeys, d, seed: kSeed });
  return { formula: formulas[measure], inputs, exact: found[measure] };
}
