// SPDX-License-Identifier: Apache-2.0
import { css } from 'lit';

export const base = css`
  :host {
    display: block;
    container-type: inline-size;
    color: var(--_ink);
    font: 400 var(--_s2) / 1.5 var(--_font);
    font-variant-numeric: tabular-nums;
    text-align: start;
    -webkit-text-size-adjust: 100%;
  }
  :host([hidden]) {
    display: none;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  .panel {
    background: var(--_panel);
    border: 1px solid var(--_line);
    border-radius: var(--_radius);
    padding: clamp(12px, 3cqi, 24px);
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 20px;
    align-content: start; /* a height that is held stretches nothing */
    min-inline-size: 0;
  }
  .panel > * {
    min-inline-size: 0;
  }
  .on-paper {
    display: none;
  }
  @media print {
    .on-paper {
      display: block;
    }
    .on-screen {
      display: none;
    }
  }
  .heading,
  p {
    margin: 0;
  }
  .heading {
    font-size: var(--_s3);
    font-weight: 650;
    line-height: 1.3;
  }
  caption,
  .label {
    font-size: var(--_s1);
    font-weight: 600;
    line-height: 1.35;
    color: var(--_soft);
    text-align: start;
  }
  .lead {
    font-size: var(--_s4);
    line-height: 1.35;
    font-weight: 400;
    text-wrap: balance;
    letter-spacing: -0.01em;
  }
  .lead b {
    font-weight: 650;
  }
  .note {
    color: var(--_soft);
    font-size: var(--_s1);
    max-inline-size: 78ch;
    text-wrap: pretty;
  }
  .q {
    color: var(--_query);
  }
  .k {
    color: var(--_key);
  }
  .v {
    color: var(--_value);
  }
  .w {
    color: var(--_weight);
  }
  .bad {
    color: var(--_gradient);
  }
  math {
    font-family: var(--_math);
    font-size: 1.1em;
  }
  .sr {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  :focus-visible {
    outline: 2px solid var(--_focus);
    outline-offset: 2px;
  }
  @media (forced-colors: active) {
    :focus-visible {
      outline-color: Highlight;
    }
  }
`;
