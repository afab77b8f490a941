// SPDX-License-Identifier: Apache-2.0
// The same bits natively, under Node and, by tests/browser, in three browsers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { load } from 'attn';
import { assertAttnError } from './support.mjs';
import { fullModules } from './support_full.mjs';

for (const [variant, attn] of fullModules) {
  describe(`attn.full ${variant}: the digest of the bits`, () => {
    test("the portable backend's is the native one", () => {
      const { digest, native } = attn.bitwiseDigest();
      assert.match(digest, /^[0-9a-f]{16}$/);
      assert.equal(digest, native);
      assert.deepEqual(attn.bitwiseDigest('portable'), { digest, native });
    });

    test('others have digests of their own', () => {
      const { digest, native } = attn.bitwiseDigest('reference');
      assert.notEqual(digest, native);
    });

    test('a backend that does not exist is named', () => {
      assertAttnError(() => attn.bitwiseDigest('abacus'), 'not-found', 'abacus', 'portable');
    });

    test('nothing is left allocated', () => {
      const before = attn.heapBytes;
      attn.bitwiseDigest();
      assert.equal(attn.heapBytes, before);
    });
  });
}

test("the page's module says where the digest is", async () => {
  const page = await load();
  assertAttnError(() => page.bitwiseDigest(), 'unsupported', 'load({ full: true })');
});
