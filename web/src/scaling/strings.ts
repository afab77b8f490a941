// SPDX-License-Identifier: Apache-2.0
import type { Titled } from '../core/strings.js';

export interface ScalingStrings extends Titled {
  lead: string;
  leadRaw: string;
  leadWait: string;
  width: string;
  rule: string;
  raw: string;
  sqrt: string;
  d: string;
  temperature: string;
  softcap: string;
  qknorm: string;
  ruleNote: string;
  rawNote: string;
  sqrtNote: string;
  dNote: string;
  temperatureNote: string;
  softcapNote: string;
  qknormNote: string;
  ofKeys: string;
  effective: string;
  top: string;
  entropy: string;
  saturated: string;
  spread: string;
  scores: string;
  histogram: string;
  histogramNote: string;
  histogramLabel: string;
  score: string;
  tableTitle: string;
  tableNote: string;
  progress: string;
  stop: string;
  stopped: string;
  run: string;
  done: string;
  inputs: string;
  static: string;
  saturatedLong: string;
}

const en: ScalingStrings = {
  title: 'Why scores are divided by √d',
  lead: 'At d = {d}, {rule} leaves a query with {share} of 1,024 keys. Raw scores leave it {raw}.',
  leadRaw: 'At d = {d}, raw scores leave a query with {raw} of 1,024 keys.',
  leadWait: 'Drawing 500 queries and 1,024 keys of {d} numbers each … {percent}',
  width: 'head size d',
  rule: 'Scores',
  raw: 'raw',
  sqrt: '÷ √d',
  d: '÷ d',
  temperature: 'temperature',
  softcap: 'soft-cap',
  qknorm: 'QK-norm',
  ruleNote: 'Raw scores beside the rule you choose, on the same draws.',
  rawNote: 'q·k as it is: its variance is d.',
  sqrtNote: 'q·k ÷ √d: variance 1 at any d.',
  dNote: 'q·k ÷ d, as in μP: flatter the larger d is.',
  temperatureNote:
    'q·k ÷ √d ÷ {value}: trained weights can grow or shrink their entries, which acts like this.',
  softcapNote: '{value} · tanh(q·k ÷ {value}): no score leaves ±{value}.',
  qknormNote: 'q and k divided by their root mean square, then ÷ √d.',
  ofKeys: 'of 1,024 keys',
  effective: 'effective choices',
  top: 'top weight',
  entropy: 'entropy',
  saturated: 'top > 0.99',
  spread: 'spread',
  scores: 'scores',
  histogram: 'Where the 512,000 scores lie',
  histogramNote:
    'Each shape is drawn to its own peak. The bar below it is one standard deviation either side.',
  histogramLabel: 'Histogram of scores: raw scores spread {raw}, {rule} {spread}.',
  score: 'score',
  tableTitle: 'The article’s table, drawn again here',
  tableNote:
    '500 queries against 1,024 keys, entries of mean 0 and variance 1 from NumPy’s default_rng(0), bit for bit; means over the queries, entropy in nats.',
  progress: 'Experiment: {percent}',
  stop: 'Stop',
  stopped: 'Stopped.',
  run: 'Run again',
  done: 'd = {d}, {rule}: top weight {top}, entropy {entropy}, {effective} effective choices, {saturated} of rows above 0.99.',
  inputs: '{trials} queries × {keys} keys, d = {d}, default_rng({seed})',
  static:
    'Raw scores at d = 128: spread 11.38, top weight 0.817, entropy 0.53 (1.7 keys), 23 % of rows above 0.99. Divided by √d: spread 1.01, top weight 0.017, entropy 6.43 (620 keys), 0 %.',
  saturatedLong: 'rows with one weight above 0.99',
};

// Soft hyphens where the table needs them on a narrow screen.
const de: ScalingStrings = {
  title: 'Warum Scores durch √d geteilt werden',
  lead: 'Bei d = {d} lässt {rule} einer Anfrage {share} von 1024 Schlüsseln. Rohe Scores lassen ihr {raw}.',
  leadRaw: 'Bei d = {d} lassen rohe Scores einer Anfrage {raw} von 1024 Schlüsseln.',
  leadWait: '500 Anfragen und 1024 Schlüssel mit je {d} Zahlen werden gezogen … {percent}',
  width: 'Kopfgröße d',
  rule: 'Scores',
  raw: 'roh',
  sqrt: '÷ √d',
  d: '÷ d',
  temperature: 'Temperatur',
  softcap: 'Soft-Cap',
  qknorm: 'QK-Norm',
  ruleNote: 'Rohe Scores neben der gewählten Regel, mit denselben Zufallszahlen.',
  rawNote: 'q·k, wie es ist: die Varianz ist d.',
  sqrtNote: 'q·k ÷ √d: Varianz 1 bei jedem d.',
  dNote: 'q·k ÷ d, wie in μP: flacher, je größer d ist.',
  temperatureNote:
    'q·k ÷ √d ÷ {value}: trainierte Gewichte können ihre Einträge wachsen oder schrumpfen lassen, das wirkt so.',
  softcapNote: '{value} · tanh(q·k ÷ {value}): kein Score verlässt ±{value}.',
  qknormNote: 'q und k durch ihr quadratisches Mittel geteilt, dann ÷ √d.',
  ofKeys: 'von 1024 Schlüsseln',
  effective: 'wirksame Auswahl',
  top: 'größ\u00adtes Ge\u00adwicht',
  entropy: 'Entro\u00adpie',
  saturated: 'größ\u00adtes > 0,99',
  spread: 'Streu\u00adung',
  scores: 'Scores',
  histogram: 'Wo die 512 000 Scores liegen',
  histogramNote:
    'Jede Form reicht bis zu ihrer eigenen Spitze. Der Balken darunter ist eine Standardabweichung nach beiden Seiten.',
  histogramLabel: 'Histogramm der Scores: Streuung roh {raw}, {rule} {spread}.',
  score: 'Score',
  tableTitle: 'Die Tabelle des Artikels, hier neu gezogen',
  tableNote:
    '500 Anfragen gegen 1024 Schlüssel, Einträge mit Mittelwert 0 und Varianz 1 aus NumPys default_rng(0), Bit für Bit; Mittel über die Anfragen, Entropie in Nats.',
  progress: 'Experiment: {percent}',
  stop: 'Anhalten',
  stopped: 'Angehalten.',
  run: 'Noch einmal',
  done: 'd = {d}, {rule}: größtes Gewicht {top}, Entropie {entropy}, {effective} wirksame Auswahlen, {saturated} der Zeilen über 0,99.',
  inputs: '{trials} Anfragen × {keys} Schlüssel, d = {d}, default_rng({seed})',
  static:
    'Rohe Scores bei d = 128: Streuung 11,38, größtes Gewicht 0,817, Entropie 0,53 (1,7 Schlüssel), 23 % der Zeilen über 0,99. Durch √d geteilt: Streuung 1,01, größtes Gewicht 0,017, Entropie 6,43 (620 Schlüssel), 0 %.',
  saturatedLong: 'Zeilen mit einem Gewicht über 0,99',
};

export const scalingStrings = { en, de };
