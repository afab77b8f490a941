// SPDX-License-Identifier: Apache-2.0
import { css } from 'lit';

export const shared = css`
  .why {
    display: grid;
    gap: 6px 24px;
    align-items: center;
    align-content: center;
    min-block-size: 76px;
    padding: 10px 16px;
    background: var(--_sunk);
    border-radius: calc(var(--_radius) - 2px);
    font-size: var(--_s1);
  }
  .why .formula {
    font-size: var(--_s2);
  }
  .why .inputs {
    overflow-wrap: anywhere;
  }
  .why dl {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 20px;
    margin: 0;
  }
  .why dt {
    font-size: var(--_s0);
    color: var(--_soft);
    font-weight: 550;
  }
  .why dt small {
    font-size: inherit;
    font-weight: 400;
  }
  .why dd {
    margin: 0;
    font-weight: 550;
  }
  .square {
    inline-size: 32px;
    padding: 0;
  }
  .actions {
    justify-content: space-between;
  }
  textarea {
    display: block;
    inline-size: 100%;
    font:
      400 var(--_s0) / 1.5 ui-monospace,
      Menlo,
      Consolas,
      monospace;
    color: inherit;
    background: var(--_sunk);
    border: 1px solid var(--_edge);
    border-radius: 6px;
    padding: 8px;
    margin-block-start: 6px;
  }
  .failure {
    overflow-wrap: anywhere;
    border-inline-start: 3px solid var(--_gradient);
    padding-inline-start: 12px;
  }
  @media (pointer: coarse) {
    .square {
      inline-size: 44px;
    }
  }
  @container (min-width: 620px) {
    .why {
      grid-template-columns: auto 1fr auto;
    }
  }
`;
