// SPDX-License-Identifier: Apache-2.0
// Of the matrix form and of the mask lab.
import { css } from 'lit';

export const moreStyles = css`
  .block {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 12px;
    border-block-start: 1px solid var(--_line);
    padding-block-start: 20px;
  }
  .grids {
    display: grid;
    gap: 20px;
    grid-template-columns: minmax(0, 1fr);
  }
  .heat {
    table-layout: fixed;
    align-self: start;
  }
  .heat td {
    position: relative;
    text-align: center;
    padding: 0 2px;
    overflow: clip;
    font-size: var(--_s1);
  }
  .heat th {
    text-align: center;
  }
  .heat th:first-child,
  .heat .corner {
    inline-size: 30px;
    text-align: start;
    padding-inline: 0;
  }
  .heat .chosen th {
    color: var(--_query);
    font-weight: 700;
  }
  .heat .n {
    position: relative;
  }
  .heat .heat-fill {
    inset: 1px;
    inline-size: auto;
    border-radius: 3px;
    opacity: calc(var(--share) * 0.34);
  }

  .lab table {
    table-layout: fixed;
  }
  .lab thead th {
    text-align: start;
    white-space: normal;
    vertical-align: bottom;
    padding-inline: 0 12px;
  }
  .lab thead th:first-child {
    inline-size: 26%;
  }
  .lab tbody th {
    vertical-align: top;
    padding: 12px 12px 12px 0;
    border-block-start: 1px solid var(--_line);
    color: var(--_ink);
    font-size: var(--_s2);
    white-space: normal;
  }
  .lab .sub {
    display: block;
    font-size: var(--_s0);
    font-weight: 400;
    color: var(--_soft);
    line-height: 1.35;
    margin-block-start: 2px;
  }
  .chart {
    text-align: start;
    vertical-align: top;
    padding: 10px 12px 10px 0;
    white-space: normal;
  }
  .chart ul {
    list-style: none;
    margin: 0;
    padding: 0;
    max-inline-size: 260px;
  }
  .chart li {
    display: grid;
    grid-template-columns: 14px minmax(16px, 1fr) auto;
    gap: 6px;
    align-items: center;
    font-size: var(--_s1);
    line-height: 22px;
    border-radius: 4px;
  }
  .key {
    color: var(--_soft);
    font-size: var(--_s0);
  }
  .track {
    position: relative;
    block-size: 10px;
    background: var(--_sunk);
    border-radius: 3px;
    overflow: clip;
  }
  .track .bar {
    inset: 0 auto 0 0;
    inline-size: calc(var(--share) * 100%);
  }
  .leaks {
    color: var(--_gradient);
  }
  .leaks .bar {
    background: var(--_gradient);
  }
  .verdict {
    font-size: var(--_s1);
    line-height: 1.4;
    margin-block-start: 4px;
    border-radius: 4px;
  }

  @media (pointer: coarse) {
    .chart li {
      line-height: 44px;
    }
  }
  @container (min-width: 720px) {
    .grids {
      grid-template-columns: minmax(0, 3fr) minmax(0, 3fr) minmax(0, 4fr);
      gap: 30px;
    }
  }
  @container (max-width: 480px) {
    /* The names of the masks get a line of their own; the table's roles are written out, so that this
       changes the layout and not what a screen reader hears. */
    .lab tr {
      display: grid;
      grid-template-columns: 1fr 1fr;
      column-gap: 14px;
      border-block-start: 1px solid var(--_line);
    }
    .lab thead tr {
      border: 0;
    }
    .lab th,
    .lab td {
      border: 0;
      block-size: auto;
    }
    .lab thead th:first-child,
    .lab tbody th {
      grid-column: 1 / -1;
      inline-size: auto;
    }
    .lab tbody th {
      padding-block: 10px 0;
    }
    .lab .sub {
      display: inline;
      margin-inline-start: 8px;
    }
    .chart {
      padding-inline-end: 0;
    }
  }
`;
