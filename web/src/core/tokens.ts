// SPDX-License-Identifier: Apache-2.0
// The look of every element: colours that mean something, one type scale, one rhythm. A page changes
// them through the --attn-* custom properties; inside, only the private --_* names are used.
import { css } from 'lit';

/**
 * Query, key, value, weight and gradient keep their colour in text, formula, table and plot. Each
 * reaches 4.5:1 on the panel and on its own tint, in both themes (measured by the axe test).
 */
export const tokens = css`
  :host {
    color-scheme: light dark;
    --_panel: var(--attn-panel, light-dark(#ffffff, #1a1d24));
    --_sunk: var(--attn-sunk, light-dark(#f3f2ee, #13161b));
    --_ink: var(--attn-ink, light-dark(#1d1f24, #e8e6e1));
    --_soft: var(--attn-soft, light-dark(#585d68, #a6abb8));
    --_line: var(--attn-line, light-dark(#e2e0d9, #2e333d));
    --_edge: var(--attn-edge, light-dark(#85888f, #757b88));
    --_query: var(--attn-query, light-dark(#1b5bc4, #84b3ff));
    --_key: var(--attn-key, light-dark(#0a6f62, #54cdb6));
    --_value: var(--attn-value, light-dark(#7a36b8, #cda4ff));
    --_weight: var(--attn-weight, light-dark(#995000, #f3b352));
    --_weight-fill: var(--attn-weight-fill, light-dark(#e08a1e, #d99432));
    --_gradient: var(--attn-gradient, light-dark(#b3264b, #ff8da3));
    --_focus: var(--attn-focus, var(--_query));
    --_font: var(
      --attn-font,
      system-ui,
      -apple-system,
      'Segoe UI',
      Roboto,
      'Helvetica Neue',
      Arial,
      sans-serif
    );
    --_math: var(
      --attn-math-font,
      'STIX Two Math',
      'Latin Modern Math',
      'Cambria Math',
      'DejaVu Math TeX Gyre',
      math
    );
    --_radius: var(--attn-radius, 10px);
    --_s0: 0.75rem;
    --_s1: 0.8125rem;
    --_s2: 0.9375rem;
    --_s3: 1.125rem;
    --_s4: 1.375rem;
    --_fast: 160ms;
    --_slow: 280ms;
  }
  :host([theme='light']) {
    color-scheme: light;
  }
  :host([theme='dark']) {
    color-scheme: dark;
  }
  @media (prefers-reduced-motion: reduce) {
    :host {
      --_fast: 0ms;
      --_slow: 0ms;
    }
  }
`;
