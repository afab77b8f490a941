// SPDX-License-Identifier: Apache-2.0
// What the tests of both elements share: a page with one element, and the oracle, the same module under Node.
import { load } from 'attn';
import { settled } from '../helpers.mjs';
import { embed } from '../site.mjs';

let oracle;

/** The module under Node. Its simd128 variant runs everywhere; variants differ in the last bits of f32 only. */
export function module() {
  oracle ??= load({ variant: 'simd128' });
  return oracle;
}

let figures;

/** The figures of `attn report`, by id. */
export async function report() {
  figures ??= new Map((await module()).report().map((figure) => [figure.id, figure]));
  return figures;
}

export async function open(
  { page, site },
  name,
  { attributes = '', hash = '', head = '', body } = {},
) {
  const variant = site.variant({
    pages: {
      'embed.html': embed([name], { head, body: body ?? `<${name} ${attributes}></${name}>` }),
    },
  });
  await page.goto(`${variant.url}embed.html${hash}`);
  await settled(page, name);
  return variant;
}

/** Every number of the element that is a figure of the article: [{ id, index, value, text }]. */
export function shownFigures(page, name) {
  return page.evaluate(
    (tag) =>
      [...document.querySelector(tag).shadowRoot.querySelectorAll('[data-figure]')].map((node) => ({
        id: node.dataset.figure,
        index: node.dataset.index ?? '0',
        value: node.dataset.value,
        text: node.textContent.trim(),
      })),
    name,
  );
}

/** Text of one cell, found by its place. */
export const cell = (grid, row, column) =>
  `[data-grid="${grid}"][data-row="${row}"][data-column="${column}"]`;

export function value(page, name, place) {
  return page.evaluate(
    (tag, query) =>
      Number(document.querySelector(tag).shadowRoot.querySelector(query).dataset.value),
    name,
    place,
  );
}

/** Where the focus is inside the element: "k 1,2", or the name of a control. */
export function focused(page, name) {
  return page.evaluate((tag) => {
    const node = document.querySelector(tag).shadowRoot.activeElement;
    if (!node) return null;
    const { grid, row, column } = node.dataset;
    return grid ? `${grid} ${row},${column}` : (node.name ?? node.localName);
  }, name);
}

/** What a click on a copy button puts into the clipboard, which no test may touch for real. */
export async function copied(page, name, what) {
  await page.evaluate(() => {
    window.clipboard = [];
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true,
      value: { writeText: async (text) => void window.clipboard.push(text) },
    });
  });
  await page.click(`${name} >>> [data-copy="${what}"]`);
  return page.waitFor('the copy', () => window.clipboard[0]);
}

/** Numbers as the article prints them: "−0.090" to -0.09. */
export const parse = (text) => Number(text.replace('\u2212', '-').replace('%', '').trim());
