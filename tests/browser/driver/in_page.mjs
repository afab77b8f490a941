// SPDX-License-Identifier: Apache-2.0
// Functions that are sent to the page as text. Each must stand alone: no imports, no outer names.

/** First match of a selector in which `a >>> b` means "b inside the shadow root of a". */
export function findDeep(selector, what) {
  let nodes = [document];
  for (const part of selector.split('>>>')) {
    const roots = nodes.map((node) => (node === document ? node : node.shadowRoot)).filter(Boolean);
    nodes = roots.flatMap((root) => [...root.querySelectorAll(part.trim())]);
  }
  const node = nodes[0];
  if (what === 'exists') return !!node;
  if (!node) return null;
  if (what === 'text') return node.textContent;
  if (what === 'focus') {
    node.focus();
    return true;
  }
  const isInView = () => {
    const { top, bottom, left, right } = node.getBoundingClientRect();
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  };
  if (!isInView()) {
    node.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  }
  const box = node.getBoundingClientRect();
  return {
    x: box.left + box.width / 2,
    y: box.top + box.height / 2,
    width: box.width,
    height: box.height,
  };
}
