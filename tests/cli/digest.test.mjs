// SPDX-License-Identifier: Apache-2.0
// `attn digest`: the portable backend's bits, natively and under Node.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { programs } from './program.mjs';

for (const { name, attn } of programs) {
  describe(`digest, ${name}`, () => {
    test('the portable backend has the recorded digest, others have their own', () => {
      const { code, out, err } = attn('digest', '--json');
      assert.deepEqual([code, err], [0, '']);
      const { recorded, digests } = JSON.parse(out);
      assert.match(recorded, /^[0-9a-f]{16}$/);
      assert.equal(digests.portable, recorded);
      assert.notEqual(digests.reference, recorded);
      assert.ok(Object.keys(digests).length >= 3);
    });

    test('one backend alone', () => {
      const { code, out } = attn('digest', '--backend', 'portable');
      assert.equal(code, 0);
      assert.match(out, /^portable {2}[0-9a-f]{16} {2}as recorded\n$/);
    });

    test('a backend that is not there', () => {
      const { code, out, err } = attn('digest', '--backend', 'abacus');
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, /no backend "abacus"/);
    });
  });
}
