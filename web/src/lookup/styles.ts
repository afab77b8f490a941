// SPDX-License-Identifier: Apache-2.0
import { css } from 'lit';

export const styles = css`
  .ledger {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 20px;
    align-items: start;
  }
  .ledger > * {
    min-inline-size: 0;
  }
  .head {
    display: grid;
    gap: 14px;
    align-content: start;
  }
  .head .formula {
    font-size: var(--_s3);
  }

  /* The unit of weight that one query hands out. */
  .beam {
    display: flex;
    gap: 2px;
    block-size: 40px;
  }
  .part {
    flex: var(--grow) 1 0;
    min-inline-size: 0;
    overflow: clip;
    display: flex;
    align-items: center;
    gap: 8px;
    padding-inline-start: 10px;
    background: var(--_weight-fill);
    color: #1c1408;
    font-size: var(--_s1);
    white-space: nowrap;
    border-radius: 3px;
    transition: flex-grow var(--_slow);
  }
  .part:first-child {
    border-start-start-radius: 8px;
    border-end-start-radius: 8px;
  }
  .part:last-child {
    border-start-end-radius: 8px;
    border-end-end-radius: 8px;
  }
  .part[data-empty] {
    display: none;
  }
  .part b {
    font-weight: 700;
  }

  @media (forced-colors: active) {
    .part {
      border: 1px solid CanvasText;
    }
  }

  /* Cells that the reader edits are tiles; what is computed is plain. */
  .tiles {
    table-layout: fixed;
    border-spacing: 3px 0;
  }
  .tiles th:first-child,
  .tiles .corner {
    inline-size: 46px;
    padding: 0;
  }
  .tiles th {
    text-align: center;
    padding-inline: 0;
  }
  .tiles th[scope='row'] {
    text-align: start;
  }
  thead th,
  thead .corner {
    block-size: 26px;
    border: 0;
  }
  .corner {
    border: 0;
  }
  .edit {
    padding: 1.5px 0;
    border: 0;
  }
  .edit input {
    font: inherit;
    color: var(--_ink);
    inline-size: 100%;
    block-size: 33px;
    border: 1px solid transparent;
    border-radius: 6px;
    padding: 0 4px;
    text-align: center;
    background: color-mix(in srgb, var(--tint) 8%, transparent);
    transition: background var(--_fast);
  }
  .edit input.q {
    --tint: var(--_query);
  }
  .edit input.k {
    --tint: var(--_key);
  }
  .edit input.v {
    --tint: var(--_value);
    background: color-mix(in srgb, var(--tint) calc(6% + var(--share, 0) * 30%), transparent);
  }
  .edit input:hover {
    border-color: var(--tint);
  }
  .edit input:focus {
    outline: 2px solid var(--tint);
    outline-offset: 0;
  }
  .edit input[aria-invalid='true'] {
    outline-color: var(--_gradient);
    color: var(--_gradient);
  }
  .chosen .edit input {
    background: color-mix(in srgb, var(--tint) 24%, transparent);
    font-weight: 650;
  }
  .ask {
    display: inline-flex;
    align-items: center;
    gap: 7px;
    min-block-size: 33px;
    cursor: pointer;
  }
  .ask input {
    accent-color: var(--_query);
  }
  tfoot td,
  tfoot th {
    border-block-start: 2px solid var(--_edge);
    font-weight: 650;
  }
  .tiles tfoot td {
    text-align: center;
    padding: 0 2px;
  }

  .scores .weight {
    inline-size: 42%;
    position: relative;
    font-weight: 650;
  }
  .bar,
  .heat-fill {
    position: absolute;
    inset-block: 5px;
    inset-inline-start: 14px;
    inline-size: calc(var(--share) * (100% - 72px));
    background: var(--_weight-fill);
    border-radius: 3px;
    transition: inline-size var(--_slow);
    forced-color-adjust: none;
  }
  .scores .bar {
    min-inline-size: 0;
  }
  .masked td,
  .masked th {
    color: var(--_soft);
  }
  .masked td.weight {
    color: var(--_soft);
  }

  @media (pointer: coarse) {
    .edit input {
      block-size: 42px;
    }
    .ask {
      min-inline-size: 44px;
      min-block-size: 44px;
    }
  }
  @container (min-width: 720px) {
    .ledger {
      grid-template-columns: minmax(0, 1fr) minmax(0, 1.55fr) minmax(0, 1fr);
      grid-template-areas: 'q h h' 'k s v';
      column-gap: 30px;
      row-gap: 22px;
    }
    .area-q {
      grid-area: q;
    }
    .head {
      grid-area: h;
    }
    .area-k {
      grid-area: k;
    }
    .area-s {
      grid-area: s;
    }
    .area-v {
      grid-area: v;
    }
  }
  @container (min-width: 720px) and (max-width: 899px) {
    /* Just wide enough for three columns: the output's decimals need the room of the gaps. */
    .ledger {
      grid-template-columns: minmax(0, 1fr) minmax(0, 1.25fr) minmax(0, 1.15fr);
      column-gap: 18px;
    }
    .area-v th:first-child,
    .area-v .corner {
      inline-size: 22px;
    }
    .tiles tfoot td {
      font-size: var(--_s1);
      padding: 0;
    }
  }
  @container (max-width: 480px) or ((min-width: 720px) and (max-width: 899px)) {
    /* No room for bar and number side by side: the bar lies under the number. */
    .scores td {
      padding-inline: 4px;
    }
    .scores .bar {
      inset-inline-start: 4px;
      inline-size: calc(var(--share) * (100% - 4px));
      opacity: 0.32;
    }
    .scores .weight .n {
      position: relative;
    }
  }
  @container (max-width: 480px) {
    .scores .weight {
      inline-size: 32%;
    }
    .part {
      gap: 5px;
      padding-inline-start: 7px;
    }
  }
`;
