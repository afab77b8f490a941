// SPDX-License-Identifier: Apache-2.0
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { plainNumber } from '../core/format.js';
import { vars } from '../core/vars.js';
import type { AttnScaling } from './element.js';
import { kRules, kStops, type ScalingState, softcapOf, temperatureOf } from './state.js';

const kLabelled = [1, 8, 32, 128, 512];

export function renderControls(host: AttnScaling): TemplateResult {
  const { d, rule, temperature, softcap } = host.shown;
  const value = rule === 'temperature' ? temperature : softcap;
  return html`<div class="controls" part="controls">
    <div class="slider">
      <label for="d"
        ><span class="label">${host.t('width')}</span> <output class="big">${d}</output></label
      >
      <input
        id="d"
        type="range"
        min="0"
        max=${kStops.length - 1}
        step="1"
        list="stops"
        .value=${live(String(nearestStop(d)))}
        aria-valuetext="d = ${d}"
        @input=${(event: Event) => host.show({ d: stopOf(event) })}
        @change=${(event: Event) => host.change({ d: stopOf(event) })}
      />
      <div class="ticks" aria-hidden="true">
        ${kLabelled.map((stop) => html`<span ${vars({ '--at': nearestStop(stop) / (kStops.length - 1) })}>${stop}</span>`)}
      </div>
    </div>
    <div class="rules">
      <fieldset>
        <legend>${host.t('rule')}</legend>
        <span class="segments">
          ${kRules.map(
            (name) =>
              html`<label
                ><input
                  type="radio"
                  name="rule"
                  value=${name}
                  .checked=${live(name === rule)}
                  @change=${() => host.change({ rule: name })}
                />${host.t(name)}</label
              >`,
          )}
        </span>
      </fieldset>
      <p class="note">${host.t(`${rule}Note`, { value: plainNumber(value, host.locale) })}</p>
      ${rule === 'temperature' ? knob(host, 'temperature', 0.05, 4, 0.05) : rule === 'softcap' ? knob(host, 'softcap', 0.5, 60, 0.5) : nothing}
    </div>
  </div>`;
}

function knob(
  host: AttnScaling,
  name: 'temperature' | 'softcap',
  min: number,
  max: number,
  step: number,
): TemplateResult {
  const value = (event: Event): Partial<ScalingState> => {
    const raw = Number((event.target as HTMLInputElement).value);
    return name === 'temperature'
      ? { temperature: temperatureOf(raw) }
      : { softcap: softcapOf(raw) };
  };
  const text = plainNumber(host.shown[name], host.locale);
  return html`<label class="knob"
    ><span class="label">${host.t(name)}</span>
    <input
      type="range"
      name=${name}
      min=${min}
      max=${max}
      step=${step}
      .value=${live(String(host.shown[name]))}
      aria-valuetext=${text}
      @input=${(event: Event) => host.show(value(event))}
      @change=${(event: Event) => host.change(value(event))}
    />
    <output>${text}</output></label
  >`;
}

function stopOf(event: Event): number {
  return kStops[Number((event.target as HTMLInputElement).value)] ?? kStops[0];
}

/** A fragment may hold any d; the thumb then stands at the stop below. */
function nearestStop(d: number): number {
  return Math.max(
    0,
    kStops.findLastIndex((stop) => stop <= d),
  );
}
