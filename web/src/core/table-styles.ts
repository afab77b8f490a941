// SPDX-License-Identifier: Apache-2.0
import { css } from 'lit';

export const tables = css`
  .scroll {
    min-inline-size: 0;
  }
  table {
    border-collapse: separate;
    border-spacing: 0;
    inline-size: 100%;
    font-size: var(--_s2);
  }
  caption {
    padding-block-end: 6px;
  }
  th {
    font-weight: 550;
    font-size: var(--_s0);
    color: var(--_soft);
    text-align: end;
    padding: 4px 6px;
    white-space: nowrap;
  }
  th[scope='row'] {
    text-align: start;
    padding-inline-start: 0;
  }
  td {
    text-align: end;
    padding: 0 6px;
    block-size: 36px;
    border-block-start: 1px solid var(--_line);
    white-space: nowrap;
  }
  td[tabindex] {
    cursor: default;
    outline-offset: -2px;
  }
  td[tabindex]:hover {
    background: var(--_sunk);
  }
  /* The cell that the provenance strip speaks of. */
  .pointed {
    box-shadow: inset 0 0 0 1.5px var(--_edge);
    border-radius: 4px;
  }
  /* Whole numbers keep their decimal point under that of the others. */
  .n[data-pad]::after {
    content: attr(data-pad);
    visibility: hidden;
  }
  @media (pointer: coarse) {
    td {
      block-size: 44px;
    }
  }
`;
