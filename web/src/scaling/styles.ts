// SPDX-License-Identifier: Apache-2.0
import { css } from 'lit';

export const styles = css`
  .stack {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 20px;
    min-inline-size: 0;
  }
  .stack > * {
    min-inline-size: 0;
  }
  .controls {
    display: grid;
    gap: 16px 36px;
    align-items: start;
  }
  .slider label {
    display: flex;
    align-items: baseline;
    gap: 8px;
  }
  .big {
    font-size: var(--_s4);
    font-weight: 650;
    line-height: 1;
  }
  .ticks,
  .axis {
    position: relative;
    block-size: 18px;
    font-size: var(--_s0);
    color: var(--_soft);
  }
  .ticks {
    margin-inline: 8px;
  }
  .ticks span,
  .axis span {
    position: absolute;
    inset-inline-start: calc(var(--at) * 100%);
    transform: translateX(-50%);
  }
  .rules {
    display: grid;
    gap: 8px;
  }
  .knob {
    display: grid;
    grid-template-columns: auto minmax(60px, 1fr) 3.2em;
    gap: 10px;
    align-items: center;
  }
  .knob output {
    font-weight: 600;
    text-align: end;
  }

  .pair {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
    gap: 16px;
    align-items: start;
  }
  .pair[aria-busy='true'] .count,
  .pair[aria-busy='true'] svg {
    opacity: 0.5;
  }
  .pair .numbers {
    grid-column: 1 / -1;
  }
  figure {
    margin: 0;
    min-inline-size: 0;
  }
  .dots svg {
    display: block;
    inline-size: 100%;
    max-inline-size: 300px;
    block-size: auto;
    margin-block: 6px 8px;
    transition: opacity var(--_fast);
  }
  .off {
    fill: color-mix(in srgb, var(--_edge) 22%, transparent);
  }
  .on {
    fill: var(--_weight-fill);
    forced-color-adjust: none;
  }
  .count {
    font-size: var(--_s1);
    color: var(--_soft);
    line-height: 1.2;
  }
  .count b {
    font-size: var(--_s4);
    font-weight: 650;
    color: var(--_ink);
  }
  .numbers td {
    font-weight: 550;
  }
  .numbers tbody th {
    border-block-start: 1px solid var(--_line);
  }
  .numbers th {
    white-space: normal;
  }
  .numbers .corner {
    block-size: auto;
    border: 0;
  }

  .histogram {
    min-block-size: calc(clamp(110px, 18cqi, 180px) + 110px); /* nothing moves when it arrives */
  }
  .histogram figcaption {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 20px;
    align-items: baseline;
    justify-content: space-between;
    margin-block-end: 10px;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    column-gap: 14px;
    font-size: var(--_s1);
    color: var(--_soft);
  }
  .swatch {
    display: inline-block;
    inline-size: 12px;
    block-size: 12px;
    border-radius: 3px;
    margin-inline-end: 6px;
    vertical-align: -1px;
    forced-color-adjust: none;
  }
  .histogram svg {
    display: block;
    inline-size: 100%;
    block-size: clamp(110px, 18cqi, 180px);
    border-block-end: 1px solid var(--_edge);
  }
  .histogram path.raw,
  .swatch.raw,
  .sd.raw {
    fill: color-mix(in srgb, var(--_edge) 40%, transparent);
    background: color-mix(in srgb, var(--_edge) 60%, transparent);
  }
  .histogram path.rule,
  .swatch.rule,
  .sd.rule {
    fill: var(--_ink);
    background: var(--_ink);
  }
  .histogram path {
    forced-color-adjust: none;
  }
  .histogram path.rule {
    fill-opacity: 0.88;
  }
  .spreads {
    padding-block: 6px 2px;
    display: grid;
    gap: 3px;
    justify-items: center;
  }
  .sd {
    block-size: 5px;
    border-radius: 3px;
    inline-size: calc(var(--half) * 100%);
    min-inline-size: 2px;
    forced-color-adjust: none;
  }
  .histogram .note {
    margin-block-start: 4px;
  }

  .block {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 10px;
    border-block-start: 1px solid var(--_line);
    padding-block-start: 20px;
  }
  .run {
    margin-inline-start: auto;
    min-block-size: 34px;
  }
  progress {
    inline-size: 110px;
    block-size: 8px;
    accent-color: var(--_ink);
  }
  .article th {
    white-space: normal;
    vertical-align: bottom;
    line-height: 1.3;
  }
  .article .kind {
    text-align: start;
    font-weight: 450;
  }
  .article thead th:nth-child(-n + 2) {
    text-align: start;
    padding-inline-start: 0;
  }
  .article tbody th {
    font-size: var(--_s1);
    color: var(--_ink);
    vertical-align: middle;
  }
  .article tbody .raw th,
  .article tbody .raw td {
    border-block-start: 1px solid var(--_line);
  }
  .article .scaled td,
  .article .scaled th {
    border-block-start: 0;
  }
  .article td {
    block-size: 30px;
  }
  .article .chosen {
    background: color-mix(in srgb, var(--_edge) 10%, transparent);
  }
  @media (pointer: coarse) {
    .article td {
      block-size: 44px;
    }
  }
  @container (min-width: 640px) {
    .controls {
      grid-template-columns: minmax(0, 2fr) minmax(0, 3fr);
    }
  }
  @container (min-width: 860px) {
    .pair {
      grid-template-columns: min(25%, 250px) min(25%, 250px) minmax(0, 1fr);
      gap: 32px;
    }
    .pair .numbers {
      grid-column: auto;
      align-self: center;
    }
  }
  @container (max-width: 860px) {
    .rules fieldset {
      display: block;
    }
    .rules legend {
      float: none;
      margin-block-end: 6px;
    }
    .rules .segments {
      display: grid;
      grid-template-columns: repeat(3, 1fr);
    }
    .rules .segments label {
      padding-inline: 4px;
    }
  }
  @container (max-width: 400px) {
    .article td,
    .article th {
      font-size: var(--_s0);
      padding-inline: 4px;
    }
    .article thead th {
      font-size: 0.6875rem;
    }

    .article .effective,
    .article [data-measure='effective'] {
      display: none;
    }
  }
`;
