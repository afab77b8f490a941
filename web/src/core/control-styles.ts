// SPDX-License-Identifier: Apache-2.0
import { css } from 'lit';

export const controls = css`
  button,
  select,
  .chip {
    font: inherit;
    font-size: var(--_s1);
    font-weight: 550;
    line-height: 1.2;
    color: var(--_ink);
    background: var(--_panel);
    border: 1px solid var(--_edge);
    border-radius: 7px;
    padding: 6px 11px;
    min-block-size: 32px;
    cursor: pointer;
    transition:
      background var(--_fast),
      border-color var(--_fast);
  }
  button:hover:not(:disabled),
  .chip:hover {
    background: var(--_sunk);
  }
  button:disabled {
    color: var(--_soft);
    border-color: var(--_line);
    cursor: default;
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    align-items: center;
  }
  .row.wide {
    gap: 10px 22px;
  }
  fieldset {
    border: 0;
    margin: 0;
    padding: 0;
    min-inline-size: 0;
    display: flex;
    flex-wrap: wrap;
    gap: 6px 10px;
    align-items: center;
  }
  legend {
    float: inline-start;
    padding: 0;
    margin-inline-end: 10px;
    font-size: var(--_s1);
    font-weight: 600;
    color: var(--_soft);
  }
  .segments {
    display: inline-flex;
    flex-wrap: wrap;
    gap: 1px;
    background: var(--_line);
    border: 1px solid var(--_edge);
    border-radius: 7px;
    overflow: clip;
  }
  .segments label {
    position: relative;
    flex: 1 0 auto;
    background: var(--_panel);
    display: inline-flex;
    align-items: center;
    justify-content: center;
    min-block-size: 30px;
    padding: 4px 12px;
    font-size: var(--_s1);
    font-weight: 550;
    cursor: pointer;
    transition: background var(--_fast);
  }
  .segments input {
    position: absolute;
    inset: 0;
    opacity: 0;
    margin: 0;
    cursor: pointer;
  }
  .segments label:has(input:checked) {
    background: var(--_ink);
    color: var(--_panel);
  }
  .segments label:has(input:focus-visible) {
    outline: 2px solid var(--_focus);
    outline-offset: -4px;
    border-radius: 7px;
  }
  .switch {
    display: inline-flex;
    align-items: center;
    gap: 8px;
    min-block-size: 32px;
    font-size: var(--_s1);
    font-weight: 550;
    cursor: pointer;
  }
  .switch input,
  input[type='radio'] {
    accent-color: var(--_ink);
    inline-size: 18px;
    block-size: 18px;
    margin: 0;
    cursor: pointer;
  }
  input[type='range'] {
    inline-size: 100%;
    accent-color: var(--_ink);
    margin: 0;
    min-block-size: 28px;
    cursor: grab;
    touch-action: pan-y;
  }
  @media (pointer: coarse) {
    button,
    select,
    .chip,
    .switch,
    .segments label,
    input[type='range'] {
      min-block-size: 44px;
      min-inline-size: 44px;
    }
  }
  @media (forced-colors: active) {
    .segments label:has(input:checked) {
      background: Highlight;
      color: HighlightText;
      forced-color-adjust: none;
    }
  }
`;
