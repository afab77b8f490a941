// SPDX-License-Identifier: Apache-2.0
// Numbers to text and back. Nothing is computed here: a digit on the page is a digit of the module.
import { html, type TemplateResult } from 'lit';

const kMinus = '\u2212';
const caches = new Map<string, Intl.NumberFormat>();

function formatter(locale: string, digits: number, minimum: number): Intl.NumberFormat {
  const id = `${locale}/${digits}/${minimum}`;
  let found = caches.get(id);
  if (!found) {
    const options = { maximumFractionDigits: digits, minimumFractionDigits: minimum };
    try {
      found = new Intl.NumberFormat(locale, { ...options, useGrouping: false });
    } catch {
      found = new Intl.NumberFormat('en', { ...options, useGrouping: false }); // not a language tag
    }
    caches.set(id, found);
  }
  return found;
}

const decimalPoint = (locale: string): string => formatter(locale, 1, 1).format(0.5).slice(1, 2);

/** A finite number with `digits` decimals; a whole one without any, because it is exact. */
export function formatNumber(value: number, locale: string, digits = 3, whole = true): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '\u221e';
  if (value === -Infinity) return `${kMinus}\u221e`;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 0.5 * 10 ** -digits))
    return scientific(value, locale, 3);
  const minimum = whole && Number.isInteger(value) ? 0 : digits;
  return formatter(locale, digits, minimum).format(value).replace('-', kMinus);
}

/** A number as a person would write it: up to six decimals, none that say nothing. */
export function plainNumber(value: number, locale: string): string {
  return formatter(locale, 6, 0).format(value).replace('-', kMinus);
}

/** 4.4 x 10^-16 as 4.4e-16: short, and what a program prints. */
export function scientific(value: number, locale: string, significant = 2): string {
  if (!Number.isFinite(value) || value === 0) return formatNumber(value, locale);
  const [mantissa = '', exponent = ''] = value.toExponential(significant - 1).split('e');
  const text = mantissa.replace('.', decimalPoint(locale)).replace('-', kMinus);
  return `${text}e${exponent.replace('+', '').replace('-', kMinus)}`;
}

export function formatPercent(share: number, locale: string, digits = 0): string {
  if (!Number.isFinite(share)) return 'NaN';
  const least = 10 ** (-2 - digits);
  if (share > 0 && share < least / 2) return `<${formatPercent(least, locale, digits)}`;
  let text: string;
  try {
    text = new Intl.NumberFormat(locale, {
      style: 'percent',
      maximumFractionDigits: digits,
      minimumFractionDigits: digits,
    }).format(share);
  } catch {
    text = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: digits }).format(
      share,
    );
  }
  return text.replace('-', kMinus);
}

/** What a reader types: both decimal marks, both minus signs. Undefined when it is not a number. */
export function parseNumber(text: string): number | undefined {
  const clean = text.trim().replace(kMinus, '-').replace(',', '.');
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(clean)) return undefined;
  const value = Number(clean);
  return Number.isFinite(value) ? value : undefined;
}

/** The text of a number that sits in a column of others with `digits` decimals. */
export function number(value: number, locale: string, digits = 3): TemplateResult {
  // Too small for the column, yet not 0: the strip below the figure has its digits.
  const isTiny = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits;
  const text = isTiny ? '≈0' : formatNumber(value, locale, digits);
  const pad = Number.isInteger(value) && Math.abs(value) < 1e7 && digits > 0;
  return pad
    ? html`<span class="n" data-pad="${decimalPoint(locale)}${'0'.repeat(digits)}">${text}</span>`
    : html`<span class="n">${text}</span>`;
}
