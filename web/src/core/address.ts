// SPDX-License-Identifier: Apache-2.0
import {
  decodeFields,
  encodeFields,
  type Fields,
  readFragment,
  writeFragment,
} from './fragment.js';

/** What the address says under `key`, if it is ours. */
export function readAddress(key: string): Fields | undefined {
  const text = readFragment(location.hash, key);
  return text === undefined ? undefined : decodeFields(text);
}

/** Puts a state into the address; the article's own needs no mention. */
export function writeAddress(key: string, state: Fields, article: Fields): void {
  const own = encodeFields(state);
  const text = own === encodeFields(article) ? undefined : own;
  const { pathname, search, hash } = location;
  try {
    // replaceState, so that the back button still leaves the page; with the whole path, because a bare
    // fragment would be resolved against <base href>.
    window.history.replaceState(
      window.history.state,
      '',
      pathname + search + writeFragment(hash, key, text),
    );
  } catch {
    // A sandboxed frame may refuse; the figure works without.
  }
}
