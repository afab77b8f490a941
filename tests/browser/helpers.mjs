// SPDX-License-Identifier: Apache-2.0
// Questions that every element is asked. Each returns data; the test decides what is wrong with it.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let axeSource;
let marks = 0;

/**
 * Violations that axe-core finds in the page, open shadow roots included. It is injected by the
 * driver, so it works under any content security policy.
 */
export async function axe(page, options = {}) {
  axeSource ??= await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
  await page.inject(axeSource);
  await still(page);
  return page.evaluate(async (settings) => {
    const { violations } = await window.axe.run(document, {
      resultTypes: ['violations'],
      ...settings,
    });
    return violations.map(({ id, impact, help, nodes }) => ({
      id,
      impact,
      help,
      nodes: nodes.map(({ target, html, failureSummary }) => ({
        target: target.flat().join(' >>> '),
        html: html.slice(0, 200),
        why: failureSummary,
      })),
    }));
  }, options);
}

/**
 * Waits until nothing in the page is in transition, open shadow roots included: half-way between two
 * themes a background has a contrast that no reader gets to see.
 */
export function still(page, ms = 5000) {
  return page.waitFor(
    'transitions to end',
    () => {
      const running = (root) =>
        root.getAnimations().some(({ playState }) => playState === 'running') ||
        [...root.querySelectorAll('*')].some(
          ({ shadowRoot }) => shadowRoot !== null && running(shadowRoot),
        );
      return !running(document);
    },
    [],
    ms,
  );
}

export function describeViolations(violations) {
  return violations
    .map(({ id, impact, help, nodes }) => {
      const places = nodes.map(({ target, why }) => `    ${target}: ${why.replace(/\s+/g, ' ')}`);
      return `${id} (${impact}): ${help}\n${places.join('\n')}`;
    })
    .join('\n');
}

/**
 * Whether the page can be scrolled sideways at this width, and the elements that stick out of it
 * (those inside a box that scrolls by itself do not count).
 */
export async function overflow(page, width) {
  await page.setViewport(width, 800);
  await page.frames();
  return page.evaluate(() => {
    const limit = document.documentElement.clientWidth;
    const offenders = [];
    const visit = (root, clipped) => {
      for (const node of root.children) {
        const style = getComputedStyle(node);
        if (style.display === 'none') continue;
        const box = node.getBoundingClientRect();
        if (!clipped && box.width > 0 && box.right > limit + 1) {
          offenders.push(
            `${node.localName}.${node.className?.baseVal ?? node.className} ` +
              `to ${Math.round(box.right)} px`,
          );
        }
        const scrolls = clipped || style.overflowX !== 'visible';
        if (node.shadowRoot) visit(node.shadowRoot, scrolls);
        visit(node, scrolls);
      }
    };
    visit(document.body, false);
    return {
      width: limit,
      scrollWidth: document.documentElement.scrollWidth,
      offenders: offenders.slice(0, 8),
    };
  });
}

/** Cells of an element's tables whose text is wider than the cell: it would run into its neighbour. */
export function crowded(page, name) {
  return page.evaluate((tag) => {
    const text = document.createRange();
    return [...document.querySelector(tag).shadowRoot.querySelectorAll('td, th')]
      .filter((cell) => {
        text.selectNodeContents(cell);
        const box = cell.getBoundingClientRect();
        const inside = text.getBoundingClientRect();
        return (
          !cell.querySelector('.sr') &&
          inside.width > 0 &&
          (inside.right > box.right + 1 || inside.left < box.left - 1)
        );
      })
      .map((cell) => `${cell.localName} ${cell.textContent.trim().slice(0, 30)}`);
  }, name);
}

/** Waits until each of these elements has its numbers on screen ("ready") or its message ("error"). */
export async function settled(page, selector, state = 'ready', ms = 20000) {
  const see = (query) =>
    [...document.querySelectorAll(query)].map((node) => {
      node.scrollIntoView({ block: 'nearest' });
      return node.dataset.state ?? 'none';
    });
  let seen = [];
  try {
    await page.waitFor(
      `${selector} to be ${state}`,
      (query, wanted) => {
        const nodes = [...document.querySelectorAll(query)];
        // Elements start when they come near the viewport.
        nodes.find((node) => node.dataset.state !== wanted)?.scrollIntoView({ block: 'nearest' });
        return nodes.length > 0 && nodes.every((node) => node.dataset.state === wanted);
      },
      [selector, state],
      ms,
    );
  } catch (error) {
    seen = await page.evaluate(see, selector);
    const { console: lines, errors } = await page.records();
    const said = [
      ...errors,
      ...lines.filter(({ type }) => type === 'error').map(({ text }) => text),
    ];
    throw new Error(
      `${error.message}; states: ${seen.join(', ') || 'no such element'}; ${said.join('; ')}`,
    );
  }
}

/** All that an element shows: text of its shadow root, without styles. */
export function shownText(page, selector) {
  return page.evaluate((query) => {
    const read = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return node.data;
      if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.DOCUMENT_FRAGMENT_NODE)
        return '';
      if (node.localName === 'style' || node.localName === 'script') return '';
      const inside = node.shadowRoot ? read(node.shadowRoot) : '';
      return inside + [...node.childNodes].map(read).join(' ');
    };
    return read(document.querySelector(query)).replace(/\s+/g, ' ').trim();
  }, selector);
}

/** Waits until what an element says stops changing: experiments go on after the first number. */
export async function calm(page, selector, ms = 30000) {
  const end = performance.now() + ms;
  for (let before; ;) {
    const text = await shownText(page, selector);
    if (text === before) return;
    if (performance.now() > end) throw new Error(`${selector} still changes after ${ms} ms`);
    before = text;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** { id: text } of the numbers an element shows (data-figure inside its shadow root). */
export function figures(page, selector) {
  return page.evaluate((query) => {
    const host = document.querySelector(query);
    const nodes = host?.shadowRoot?.querySelectorAll('[data-figure]') ?? [];
    return Object.fromEntries(
      [...nodes].map((node) => [
        node.dataset.figure,
        node.localName === 'input' ? node.value : node.textContent.trim(),
      ]),
    );
  }, selector);
}

/**
 * Content security policy violations that a variant has received. Reports come on their own time, so
 * a violation is made on purpose and everything that arrived before its report counts.
 */
export async function violations(page, variant) {
  const mark = `http://mark-${++marks}.invalid`;
  await page.evaluate((address) => {
    const script = document.createElement('script');
    script.src = `${address}/`;
    document.head.append(script);
  }, mark);
  const arrived = () => variant.violations.some(({ blocked }) => String(blocked).startsWith(mark));
  for (let tries = 0; !arrived(); ++tries) {
    if (tries > 400) throw new Error('the browser does not report violations of the policy');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return variant.violations.filter(({ blocked }) => !/^http:\/\/mark-\d+\.invalid/.test(blocked));
}

/**
 * Collects garbage until at most `enough` of the WeakRefs in window[name] hold something, or until
 * `limitMs` have passed and nothing more clears; how many are left. Finalisers, cycle collection and
 * the DOM's own deferred work take some rounds, on a busy machine seconds.
 */
export async function collectGarbage(page, name, { enough = 0, limitMs = 20000 } = {}) {
  const end = performance.now() + limitMs;
  let left = Infinity;
  for (let idle = 0; left > enough && (idle < 3 || performance.now() < end);) {
    await page.collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = await page.evaluate(
      (list) => window[list].filter((ref) => ref.deref()).length,
      name,
    );
    idle = now < left ? 0 : idle + 1;
    left = now;
  }
  return left;
}

/** Relative luminance (0 black, 1 white) of an element's panel and of its text. */
export function panelColours(page, name) {
  return page.evaluate((tag) => {
    const style = getComputedStyle(
      document.querySelector(tag).shadowRoot.querySelector('[part~=panel]'),
    );
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    // The canvas understands every notation of a colour that the engine has.
    const luminance = (colour) => {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => {
        const part = byte / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return Number((0.2126 * r + 0.7152 * g + 0.0722 * b).toFixed(3));
    };
    return { background: luminance(style.backgroundColor), text: luminance(style.color) };
  }, name);
}

/** Parts of an element that have a transition or an animation of more than a frame. */
export function moving(page, name) {
  return page.evaluate((tag) => {
    const longest = (list) =>
      Math.max(
        ...list
          .split(',')
          .map((part) => parseFloat(part) * (part.trim().endsWith('ms') ? 1 : 1000)),
      );
    const root = document.querySelector(tag).shadowRoot;
    const styled = [...root.querySelectorAll('*')]
      .filter((node) => {
        const style = getComputedStyle(node);
        return (
          longest(style.transitionDuration) > 16 ||
          (style.animationName !== 'none' && longest(style.animationDuration) > 16)
        );
      })
      .map((node) => `${node.localName}.${node.className?.baseVal ?? node.className}`);
    const running = document.getAnimations().filter(({ playState }) => playState === 'running');
    return [...new Set(styled), ...running.map(({ animationName }) => `running ${animationName}`)];
  }, name);
}
