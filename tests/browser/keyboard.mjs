// SPDX-License-Identifier: Apache-2.0
// What Tab reaches, in which order, and whether it shows.

/** Remembers in the page which controls of an element Tab should reach. */
export function markTabbable(page, name) {
  return page.evaluate((tag) => {
    const radios = new Set();
    const kControls = 'button, input, select, textarea, a[href], summary, [tabindex]';
    const all = [...document.querySelector(tag).shadowRoot.querySelectorAll(kControls)];
    window.canTab = (node) =>
      node.isConnected && node.tabIndex >= 0 && !node.disabled && node.checkVisibility();
    window.tabWanted = all.filter((node) => {
      if (!window.canTab(node)) return false;
      if (node.type !== 'radio') return true;
      // A group of radio buttons is one stop: the one that is chosen.
      if (!node.checked || radios.has(node.name)) return false;
      radios.add(node.name);
      return true;
    });
    return window.tabWanted.length;
  }, name);
}

/** Those of markTabbable's controls that `reached` (indices) lacks and that could still have focus. */
export function neverReached(page, reached) {
  return page.evaluate((indices) => {
    const missed = window.tabWanted.filter(
      (node, i) => !indices.includes(i) && window.canTab(node),
    );
    return missed.map((node) => {
      const text = node.getAttribute('aria-label') ?? node.textContent.trim().slice(0, 40);
      return `${node.localName} ${text}`;
    });
  }, reached);
}

/**
 * Presses Tab from the top of the page and says what had focus, until `until` (an id in the page) is
 * reached or after `limit` stops. Each stop: label, the host it is in, its index among
 * markTabbable's controls, whether a focus ring shows.
 */
export async function tabWalk(page, until, limit = 200) {
  await page.evaluate(() => {
    document.activeElement?.blur();
    getSelection()?.removeAllRanges();
  });
  const stops = [];
  while (stops.length < limit) {
    await page.press('Tab');
    const stop = await page.evaluate(() => {
      let node = document.activeElement;
      let host = null;
      while (node?.shadowRoot?.activeElement) {
        host ??= node.localName;
        node = node.shadowRoot.activeElement;
      }
      if (!node || node === document.body) return { label: 'body', host, id: '', wanted: -1 };
      const ringed = (element) => {
        const style = getComputedStyle(element);
        const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
        return outlined || style.boxShadow !== 'none';
      };
      return {
        label: node.getAttribute('aria-label') ?? node.textContent.trim().slice(0, 40),
        tag: node.localName,
        id: node.id,
        host,
        wanted: window.tabWanted?.indexOf(node) ?? -1,
        // A control that is drawn by its label shows the ring there.
        ring: ringed(node) || (node.closest('label') !== null && ringed(node.closest('label'))),
      };
    });
    stops.push(stop);
    if (stop.id === until) break;
  }
  return stops;
}
