// SPDX-License-Identifier: Apache-2.0

/** The nearest lang attribute, through shadow roots; German where it begins with "de", English otherwise. */
export function languageOf(element: HTMLElement): 'en' | 'de' {
  let at: Element | null = element;
  while (at) {
    const lang: string | null = at.getAttribute('lang');
    if (lang) return /^de\b/i.test(lang) ? 'de' : 'en';
    const root: Node = at.getRootNode();
    at = at.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
  }
  return 'en';
}
