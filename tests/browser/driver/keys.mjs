// SPDX-License-Identifier: Apache-2.0
// Names of keys are those of KeyboardEvent.key; chords are written 'Control+z', 'Shift+Tab'.
// The code points are WebDriver's (section 15.4.2, keyboard actions).
const kWebDriver = {
  Enter: '\uE007',
  Tab: '\uE004',
  Escape: '\uE00C',
  Backspace: '\uE003',
  Delete: '\uE017',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
  Home: '\uE011',
  End: '\uE010',
  PageUp: '\uE00E',
  PageDown: '\uE00F',
  Insert: '\uE016',
  Shift: '\uE008',
  Control: '\uE009',
  Alt: '\uE00A',
  Meta: '\uE03D',
  F2: '\uE032',
  Space: ' ',
};

/** 'Control+z' -> ['Control', 'z']; a lone '+' stays a key. */
export function splitChord(chord) {
  return chord.length === 1 ? [chord] : chord.split('+').map((key) => (key === '' ? '+' : key));
}

export function webDriverKey(key) {
  const code = kWebDriver[key] ?? ([...key].length === 1 ? key : undefined);
  if (code === undefined) throw new Error(`press: unknown key '${key}'`);
  return code;
}

export const puppeteerKey = (key) => (key === 'Space' ? ' ' : key);
