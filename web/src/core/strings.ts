// SPDX-License-Identifier: Apache-2.0
// Sentences that every element needs. An element's own are beside it.

export interface CommonStrings {
  loading: string;
  cannotRun: string;
  undo: string;
  redo: string;
  reset: string;
  copyAs: string;
  copied: string;
  copyByHand: string;
  embedCode: string;
  token: string;
  notANumber: string;
  computedBy: string;
  pointHint: string;
  error: string;
  exact: string;
}

/** Every element has a name of its own. */
export interface Titled {
  title: string;
}

export const common: Record<'en' | 'de', CommonStrings> = {
  en: {
    loading: 'Starting the kernels …',
    cannotRun:
      'This figure computes its numbers with WebAssembly SIMD, which could not start here. The article’s figures:',
    undo: 'Undo',
    redo: 'Redo',
    reset: 'The article’s numbers',
    copyAs: 'Copy {what}',
    copied: 'Copied: {what}',
    copyByHand: 'The browser does not allow copying from here; the text is selected:',
    embedCode: 'embed code',
    token: 'token {n}',
    notANumber: '“{text}” is not a number; {kept} stays.',
    computedBy: 'computed by {backend}',
    pointHint: 'Point at a number, or move to it with the arrow keys, to see where it comes from.',
    error: 'error against f64',
    exact: 'exact',
  },
  de: {
    loading: 'Die Rechenkerne starten …',
    cannotRun:
      'Diese Abbildung rechnet mit WebAssembly-SIMD, das hier nicht starten konnte. Die Zahlen des Artikels:',
    undo: 'Rückgängig',
    redo: 'Wiederholen',
    reset: 'Zahlen des Artikels',
    copyAs: '{what} kopieren',
    copied: 'Kopiert: {what}',
    copyByHand: 'Der Browser erlaubt das Kopieren hier nicht; der Text ist markiert:',
    embedCode: 'Einbettungscode',
    token: 'Token {n}',
    notANumber: '„{text}“ ist keine Zahl; {kept} bleibt.',
    computedBy: 'gerechnet von {backend}',
    pointHint:
      'Zeigen Sie auf eine Zahl oder gehen Sie mit den Pfeiltasten zu ihr, um zu sehen, woher sie kommt.',
    error: 'Fehler gegen f64',
    exact: 'exakt',
  },
};

/** The sentence in pieces, so that some of its values can be elements; still nobody's text becomes markup. */
export function pieces(text: string, values: Record<string, unknown>): unknown[] {
  return text
    .split(/\{(\w+)\}/)
    .map((piece, i) => (i % 2 ? (values[piece] ?? `{${piece}}`) : piece));
}

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
