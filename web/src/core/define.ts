// SPDX-License-Identifier: Apache-2.0

/** Registers once; a second definition, or a server without elements, is no error. */
export function define(name: string, element: CustomElementConstructor): void {
  if (typeof customElements === 'undefined' || customElements.get(name)) return;
  customElements.define(name, element);
}
