// SPDX-License-Identifier: Apache-2.0
import type { Titled } from '../core/strings.js';

export interface LookupStrings extends Titled {
  leadSoft: string;
  leadTie: string;
  leadHard: string;
  leadNone: string;
  queries: string;
  keys: string;
  values: string;
  asks: string;
  entry: string;
  cellLabel: string;
  keysAndScores: string;
  dots: string;
  scaledScores: string;
  unscaledScores: string;
  exps: string;
  weights: string;
  sum: string;
  output: string;
  mode: string;
  soft: string;
  hard: string;
  causal: string;
  scale: string;
  tokens: string;
  addToken: string;
  removeToken: string;
  editHint: string;
  matrixTitle: string;
  matrixNote: string;
  grid: string;
  weightGrid: string;
  outputGrid: string;
  labTitle: string;
  labNote: string;
  labToken: string;
  labMask: string;
  labFuture: string;
  labAll: string;
  kindInfinity: string;
  kindZero: string;
  kindLowest: string;
  kindBillion: string;
  kindInfinityNote: string;
  kindZeroNote: string;
  kindLowestNote: string;
  kindBillionNote: string;
  leak: string;
  nothingHidden: string;
  naive: string;
  defined: string;
  everyone: string;
  summary: string;
  overflow: string;
  hiddenScore: string;
  static: string;
}

const en: LookupStrings = {
  title: 'Soft lookup with your own numbers',
  leadSoft: 'Token {i} gives {share} of its attention to token {j}.',
  leadTie: 'Token {i} has no favourite: {share} goes to each of the best keys.',
  leadHard: 'A hard lookup picks token {j}’s value and ignores the rest.',
  leadNone: 'Token {i} sees nothing, so its answer is 0.',
  queries: 'Queries Q',
  keys: 'Keys K',
  values: 'Values V',
  asks: 'token {n} asks',
  entry: 'entry {n}',
  cellLabel: '{matrix}, token {row}, entry {column}',
  keysAndScores: 'How well each key matches',
  dots: 'q·k',
  scaledScores: '÷ √d',
  unscaledScores: 'not scaled',
  exps: 'eˢ',
  weights: 'weight',
  sum: 'sum',
  output: 'output',
  mode: 'Lookup',
  soft: 'soft',
  hard: 'hard',
  causal: 'causal mask',
  scale: 'divide by √d',
  tokens: 'Tokens',
  addToken: 'Add a token',
  removeToken: 'Remove the last token',
  editHint:
    'Type into a cell of Q, K or V. Arrow keys move; Alt with an arrow up or down nudges by 1.',
  matrixTitle: 'All queries at once',
  matrixNote: 'The same calculation as two matrix products. Each row of weights adds up to 1.',
  grid: 'Q Kᵀ, not yet scaled',
  weightGrid: 'weights P',
  outputGrid: 'output P V',
  labTitle: 'Mask lab: four ways to hide a key',
  labNote:
    'What a hidden score is set to decides who is really hidden. Red marks weight on a token that was meant to be hidden.',
  labToken: 'Row of token',
  labMask: 'hidden score becomes',
  labFuture: 'future hidden',
  labAll: 'all hidden',
  kindInfinity: '−∞',
  kindZero: '0',
  kindLowest: 'finfo.min',
  kindBillion: '−1e9',
  kindInfinityNote: 'e⁻∞ is exactly 0',
  kindZeroNote: 'but e⁰ is 1',
  kindLowestNote: 'lowest finite number, added',
  kindBillionNote: 'large, negative, finite',
  leak: '{share} leaks',
  nothingHidden: 'nothing is hidden from this token',
  naive: 'plain softmax: 0\u00a0÷\u00a00',
  defined: 'defined here: weights 0, log-sum-exp {lse}',
  everyone: 'looks at every hidden token',
  summary: '{lead} Weights {weights}. Output {output}.',
  overflow:
    'e^score is beyond the range of f32 here, so the sum on paper fails; softmax subtracts the largest score first and does not.',
  hiddenScore: 'hidden by the causal mask',
  static:
    'Token 3 asks with [2, 0, 2, 0]. Scores 2, 0, 1; weights 0.665, 0.090, 0.245; output [0.665, 0.180, 0.665, 0.734].',
};

const de: LookupStrings = {
  title: 'Weiches Nachschlagen mit eigenen Zahlen',
  leadSoft: 'Token {i} schenkt Token {j} {share} seiner Aufmerksamkeit.',
  leadTie: 'Token {i} hat keinen Favoriten: {share} für jeden der besten Schlüssel.',
  leadHard: 'Hartes Nachschlagen nimmt den Wert von Token {j} und sonst nichts.',
  leadNone: 'Token {i} sieht nichts, also ist die Antwort 0.',
  queries: 'Anfragen Q',
  keys: 'Schlüssel K',
  values: 'Werte V',
  asks: 'Token {n} fragt',
  entry: 'Eintrag {n}',
  cellLabel: '{matrix}, Token {row}, Eintrag {column}',
  keysAndScores: 'Wie gut jeder Schlüssel passt',
  dots: 'q·k',
  scaledScores: '÷ √d',
  unscaledScores: 'unskaliert',
  exps: 'eˢ',
  weights: 'Gewicht',
  sum: 'Summe',
  output: 'Ausgabe',
  mode: 'Nachschlagen',
  soft: 'weich',
  hard: 'hart',
  causal: 'kausale Maske',
  scale: 'durch √d teilen',
  tokens: 'Tokens',
  addToken: 'Ein Token hinzufügen',
  removeToken: 'Das letzte Token entfernen',
  editHint:
    'Tippen Sie in eine Zelle von Q, K oder V. Pfeiltasten bewegen; Alt mit Pfeil auf oder ab ändert um 1.',
  matrixTitle: 'Alle Anfragen zugleich',
  matrixNote: 'Dieselbe Rechnung als zwei Matrixprodukte. Jede Zeile der Gewichte ergibt 1.',
  grid: 'Q Kᵀ, noch unskaliert',
  weightGrid: 'Gewichte P',
  outputGrid: 'Ausgabe P V',
  labTitle: 'Maskenlabor: vier Arten, einen Schlüssel zu verbergen',
  labNote:
    'Worauf ein verborgener Wert gesetzt wird, entscheidet, wer wirklich verborgen ist. Rot ist Gewicht auf einem Token, das verborgen sein sollte.',
  labToken: 'Zeile von Token',
  labMask: 'verborgener Wert wird',
  labFuture: 'Zukunft verborgen',
  labAll: 'alles verborgen',
  kindInfinity: '−∞',
  kindZero: '0',
  kindLowest: 'finfo.min',
  kindBillion: '−1e9',
  kindInfinityNote: 'e⁻∞ ist genau 0',
  kindZeroNote: 'aber e⁰ ist 1',
  kindLowestNote: 'kleinste endliche Zahl, addiert',
  kindBillionNote: 'groß, negativ, endlich',
  leak: '{share} sickern durch',
  nothingHidden: 'diesem Token ist nichts verborgen',
  naive: 'einfaches Softmax: 0\u00a0÷\u00a00',
  defined: 'hier definiert: Gewichte 0, Log-Summe-Exp {lse}',
  everyone: 'sieht jedes verborgene Token',
  summary: '{lead} Gewichte {weights}. Ausgabe {output}.',
  overflow:
    'e^Wert liegt hier außerhalb von f32, die Summe auf dem Papier scheitert; Softmax zieht zuerst den größten Wert ab und scheitert nicht.',
  hiddenScore: 'von der kausalen Maske verborgen',
  static:
    'Token 3 fragt mit [2, 0, 2, 0]. Werte 2, 0, 1; Gewichte 0,665, 0,090, 0,245; Ausgabe [0,665, 0,180, 0,665, 0,734].',
};

export const lookupStrings = { en, de };
