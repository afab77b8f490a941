// SPDX-License-Identifier: Apache-2.0
import { LitElement, type PropertyDeclarations, type PropertyValues } from 'lit';
import { languageOf } from './language.js';
import { type CommonStrings, type Titled, common, fill, pieces } from './strings.js';

type Key<Strings> = keyof (Strings & CommonStrings & Titled) & string;

/** An element that speaks the language of its surroundings, in sentences that a page may replace. */
export abstract class LocalisedElement<Strings> extends LitElement {
  static override properties: PropertyDeclarations = {
    lang: { type: String, reflect: true },
    strings: { attribute: false },
  };

  /** Sentences that replace the shipped ones, by key. */
  declare strings: Partial<Strings & CommonStrings> | undefined;

  protected abstract translations(): Record<'en' | 'de', Strings>;

  /** Found once an update: a figure asks hundreds of times, and each time would climb the page. */
  private found: { locale: 'en' | 'de'; words: Record<string, string> } | undefined;

  protected override willUpdate(_changed: PropertyValues): void {
    this.found = undefined;
  }

  private get language(): { locale: 'en' | 'de'; words: Record<string, string> } {
    if (!this.found) {
      const locale = languageOf(this);
      const words = { ...common[locale], ...this.translations()[locale], ...this.strings };
      this.found = { locale, words: words as Record<string, string> };
    }
    return this.found;
  }

  get locale(): 'en' | 'de' {
    return this.language.locale;
  }

  /** Text of a key in the element's language, with {name} filled in. */
  t(key: Key<Strings>, values: Record<string, string | number> = {}): string {
    return fill(this.sentence(key), values);
  }

  /** The same with elements as values. */
  rich(key: Key<Strings>, values: Record<string, unknown>): unknown[] {
    return pieces(this.sentence(key), values);
  }

  private sentence(key: string): string {
    return this.language.words[key] ?? key;
  }
}
