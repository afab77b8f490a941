// SPDX-License-Identifier: Apache-2.0
// MathML by hand. Identifiers carry the class of what they are, so they have its colour.
import { html } from 'lit';

export const weightFormula = html`<math
  aria-label="w j equals softmax over j of q dot k j over square root of d"
>
  <msub><mi class="w">w</mi><mi>j</mi></msub
  ><mo>=</mo><msub><mi>softmax</mi><mi>j</mi></msub
  ><mo>&ApplyFunction;</mo
  ><mrow
    ><mo>(</mo
    ><mfrac
      ><mrow
        ><mi class="q" mathvariant="normal">q</mi><mo>·</mo
        ><msub><mi class="k" mathvariant="normal">k</mi><mi>j</mi></msub></mrow
      ><msqrt><mi>d</mi></msqrt></mfrac
    ><mo>)</mo></mrow
  >
</math>`;

export const dotFormula = html`<math
  ><msub><mi class="q" mathvariant="normal">q</mi><mi>i</mi></msub
  ><mo>·</mo><msub><mi class="k" mathvariant="normal">k</mi><mi>j</mi></msub></math
>`;
export const scoreFormula = html`<math
  ><msub><mi>s</mi><mi>j</mi></msub
  ><mo>=</mo
  ><mfrac
    ><mrow
      ><mi class="q" mathvariant="normal">q</mi><mo>·</mo
      ><msub><mi class="k" mathvariant="normal">k</mi><mi>j</mi></msub></mrow
    ><msqrt><mi>d</mi></msqrt></mfrac
  ></math
>`;
export const expFormula = html`<math
  ><msup
    ><mi>e</mi><msub><mi>s</mi><mi>j</mi></msub></msup
  ></math
>`;
export const sumFormula = html`<math
  ><mi>Z</mi><mo>=</mo><munder><mo>∑</mo><mi>j</mi></munder
  ><msup
    ><mi>e</mi><msub><mi>s</mi><mi>j</mi></msub></msup
  ></math
>`;
export const softmaxFormula = html`<math
  ><msub><mi class="w">w</mi><mi>j</mi></msub
  ><mo>=</mo
  ><mfrac
    ><msup
      ><mi>e</mi><msub><mi>s</mi><mi>j</mi></msub></msup
    ><mi>Z</mi></mfrac
  ></math
>`;
export const outputFormula = html`<math
  ><mi class="v" mathvariant="normal">o</mi><mo>=</mo><munder><mo>∑</mo><mi>j</mi></munder
  ><msub><mi class="w">w</mi><mi>j</mi></msub
  ><msub><mi class="v" mathvariant="normal">v</mi><mi>j</mi></msub></math
>`;
export const leakFormula = html`<math
  ><munder
    ><mo>∑</mo><mrow><mi>j</mi><mo>&gt;</mo><mi>i</mi></mrow></munder
  ><msub><mi class="w">w</mi><mi>j</mi></msub></math
>`;
export const bestFormula = html`<math
  ><msup><mi>j</mi><mo>*</mo></msup
  ><mo>=</mo><munder><mi>arg max</mi><mi>j</mi></munder
  ><msub><mi>s</mi><mi>j</mi></msub></math
>`;
