// SPDX-License-Identifier: Apache-2.0
// Both histograms on one axis, as bare SVG: paths stretch with the element, tick labels are HTML and do not.
import type { ScalingRow } from 'attn';
import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from 'lit';
import { formatNumber } from '../core/format.js';
import { vars } from '../core/vars.js';
import { type AttnScaling, kRaw } from './element.js';
import { scoreRule } from './state.js';

const kWidth = 1000;
const kHeight = 100;

export function renderHistogram(host: AttnScaling): TemplateResult {
  const { d, rule } = host.shown;
  const raw = host.row(d, kRaw);
  const row = rule === 'raw' ? undefined : host.row(d, scoreRule(host.shown));
  if (!raw) {
    return html`<figure class="histogram">
      <figcaption>${host.heading(host.t('histogram'))}</figcaption>
      <svg viewBox="0 0 ${kWidth} ${kHeight}" aria-hidden="true"></svg>
    </figure>`;
  }
  const reach = Math.max(...[raw, row].flatMap((at) => (at ? [-at.low, at.high] : [])), 1e-9);
  const x = (score: number): number => ((score / reach + 1) / 2) * kWidth;
  const spread = (at: ScalingRow): string => formatNumber(at.spread, host.locale, 2, false);
  const label = host.t('histogramLabel', {
    raw: spread(raw),
    rule: host.ruleText(),
    spread: spread(row ?? raw),
  });
  const entry = (shape: string, name: string, of: ScalingRow): TemplateResult =>
    html`<span
      ><span class="swatch ${shape}"></span>${name}, ${host.t('spread')} ${spread(of)}</span
    >`;
  return html`<figure class="histogram">
    <figcaption>
      ${host.heading(host.t('histogram'))}
      <p class="legend">
        ${entry('raw', host.t('raw'), raw)} ${row ? entry('rule', host.ruleText(), row) : nothing}
      </p>
    </figcaption>
    <svg
      viewBox="0 0 ${kWidth} ${kHeight}"
      preserveAspectRatio="none"
      role="img"
      aria-label=${label}
    >
      ${shape(raw, x, 'raw')} ${row ? shape(row, x, 'rule') : nothing}
    </svg>
    <div class="spreads" aria-hidden="true">
      ${bar(raw, reach, 'raw')} ${row ? bar(row, reach, 'rule') : nothing}
    </div>
    <div class="axis" aria-hidden="true">
      ${ticks(reach).map((tick) => html`<span ${vars({ '--at': (tick / reach + 1) / 2 })}>${formatNumber(tick, host.locale, 2)}</span>`)}
    </div>
    <p class="note">${host.t('histogramNote')}</p>
  </figure>`;
}

function shape(row: ScalingRow, x: (score: number) => number, name: string): SVGTemplateResult {
  const bins = row.histogram.length;
  const peak = Math.max(...row.histogram, 1);
  const edge = (i: number): string => x(row.low + ((row.high - row.low) * i) / bins).toFixed(2);
  const level = (count: number): string => (kHeight * (1 - (0.96 * count) / peak)).toFixed(2);
  let path = `M${edge(0)} ${kHeight}`;
  row.histogram.forEach((count, i) => (path += `V${level(count)}H${edge(i + 1)}`));
  return svg`<path class=${name} d="${path}V${kHeight}z" vector-effect="non-scaling-stroke" />`;
}

function bar(row: ScalingRow, reach: number, name: string): TemplateResult {
  return html`<span
    class="sd ${name}"
    ${vars({ '--half': Math.min(1, row.spread / reach) })}
  ></span>`;
}

/** Round numbers from -reach to reach, about three a side. */
function ticks(reach: number): number[] {
  const rough = reach / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.75) ?? 10);
  const count = Math.floor(reach / step);
  return Array.from({ length: 2 * count + 1 }, (_, i) => (i - count) * step);
}
