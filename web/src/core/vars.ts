// SPDX-License-Identifier: Apache-2.0
import { noChange } from 'lit';
import { Directive, directive, type ElementPart, type PartInfo, PartType } from 'lit/directive.js';

/**
 * Sets CSS custom properties through the CSSOM. Lit's styleMap writes a style attribute on its first
 * render, which a content security policy without 'unsafe-inline' refuses.
 */
class VarsDirective extends Directive {
  constructor(info: PartInfo) {
    super(info);
    if (info.type !== PartType.ELEMENT) throw new Error('vars() belongs on an element');
  }
  override render(_values: Record<string, string | number>): unknown {
    return noChange;
  }
  override update(part: ElementPart, [values]: [Record<string, string | number>]): unknown {
    const { style } = part.element as HTMLElement;
    for (const [name, value] of Object.entries(values)) style.setProperty(name, String(value));
    return noChange;
  }
}
export const vars = directive(VarsDirective);
