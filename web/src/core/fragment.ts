// SPDX-License-Identifier: Apache-2.0
// The state of an element in the URL fragment: #lookup=1;n=3;...&scaling=1;d=128. What comes from there is a
// stranger's text: it is only ever split, matched and clamped, and never becomes markup.

export const kVersion = '1';
const kLongest = 4096; // the largest state we write is under 1,500 characters

/** Fields of a state: short names to plain text without ';', '=' and '&'. */
export type Fields = Record<string, string>;

export function encodeFields(fields: Fields): string {
  return [kVersion, ...Object.entries(fields).map(([name, value]) => `${name}=${value}`)].join(';');
}

/** Undefined when it is not ours: another version, too long, nothing there. */
export function decodeFields(text: string): Fields | undefined {
  if (text.length > kLongest) return undefined;
  const [version, ...pairs] = text.split(';');
  if (version !== kVersion) return undefined;
  const fields: Fields = Object.create(null) as Fields;
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at > 0) fields[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return fields;
}

/** The part of `hash` under `key`, decoded; never throws on malformed escapes. */
export function readFragment(hash: string, key: string): string | undefined {
  for (const part of hash
    .replace(/^#/, '')
    .slice(0, 4 * kLongest)
    .split('&')) {
    const at = part.indexOf('=');
    if (at < 0 || part.slice(0, at) !== key) continue;
    try {
      return decodeURIComponent(part.slice(at + 1));
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** `hash` with `key` set, or removed when `value` is undefined; the rest stays as it is. */
export function writeFragment(hash: string, key: string, value: string | undefined): string {
  const parts = hash
    .replace(/^#/, '')
    .split('&')
    .filter((part) => part !== '' && part.includes('=') && !part.startsWith(`${key}=`));
  if (value !== undefined)
    parts.push(`${key}=${encodeURIComponent(value).replace(/%(3B|3D|2C)/g, unescapeMark)}`);
  return parts.length > 0 ? `#${parts.join('&')}` : '';
}
const unescapeMark = (mark: string): string => decodeURIComponent(mark);

export function clamp(value: number, low: number, high: number, fallback: number): number {
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : fallback;
}

export function integer(
  text: string | undefined,
  low: number,
  high: number,
  fallback: number,
): number {
  if (text === undefined || !/^-?\d{1,9}$/.test(text)) return fallback;
  return clamp(Number(text), low, high, fallback);
}

export function choice<T extends string>(
  text: string | undefined,
  of: readonly T[],
  fallback: T,
): T {
  return of.includes(text as T) ? (text as T) : fallback;
}
