// SPDX-License-Identifier: Apache-2.0
// Rules that are none, and rules that the page's module has not.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAttnError, modules, noise } from './support.mjs';
import { fullModules } from './support_full.mjs';

const good = {
  q: noise(12, 1),
  k: noise(12, 2),
  v: noise(12, 3),
  shape: { queries: 3, keys: 3, width: 4 },
};

for (const [variant, attn] of fullModules) {
  describe(`attn.full ${variant}: bad rules`, () => {
    const forward = (change) => () => attn.attentionForward({ ...good, ...change });
    const refused = (change, ...texts) =>
      assertAttnError(forward(change), 'invalid-argument', ...texts);

    test('options', () => {
      refused({ window: 3 }, 'window is 3, needed is an object', 'left, right');
      refused({ window: { west: 1 } }, 'window.west is unknown', 'left, right');
      refused({ window: { left: -1 } }, 'window.left is -1, needed is an integer of at least 0');
      refused({ window: { right: 0.5 } }, 'window.right is 0.5');
      refused({ softcap: NaN }, 'softcap is NaN');
      refused({ softcap: -1 }, 'softcap is negative');
      refused({ kvSplits: -1 }, 'kvSplits is -1');
      refused({ form: 'fast' }, 'form is "fast"', 'auto, flash, explicit, decode');
    });

    test('masks and sinks', () => {
      refused({ maskKeep: [1, 1, 1] }, 'maskKeep is Array, needed is a Uint8Array');
      refused({ maskKeep: new Uint8Array(3) }, 'maskKeep has 3', '1 x 1 x 3 x 3 = 9');
      const row = { maskKeep: new Uint8Array(3) };
      forward({ ...row, maskKeepShape: [1, 1, 1, 3] })();
      refused({ ...row, maskKeepShape: [1, 3] }, 'maskKeepShape has 2 extents, needed are 4');
      refused({ ...row, maskKeepShape: [1, 1, 1, 4] }, 'maskKeep has 3', 'maskKeepShape', '= 4');
      refused({ ...row, maskKeepShape: [3, 1, 1, 1] }, 'mask_keep: axis 0 has extent 3');
      refused({ ...row, maskKeepShape: [1, 1, 1, 0.5] }, 'maskKeepShape[3] is 0.5');
      refused({ maskKeepShape: [1, 1, 1, 3] }, 'maskKeepShape is given, maskKeep is not');
      refused({ maskAddShape: [1, 1, 1, 3] }, 'maskAddShape is given, maskAdd is not');
      refused({ maskAdd: new Float64Array(9) }, 'maskAdd is Float64Array, q is Float32Array');
      refused({ sinks: new Float32Array(2) }, 'sinks has 2 elements, needed is queryHeads = 1');
      refused({ sinks: Float32Array.of(NaN) }, 'sinks[0] is nan');
    });

    test('lengths, pages and packed sequences', () => {
      refused({ kvLens: 3 }, 'kvLens is 3, needed is an array of integers');
      refused({ kvLens: [1, 2] }, 'kvLens has 2 elements, needed is batch = 1');
      refused({ kvLens: ['1'] }, 'kvLens[0] is "1", needed is an integer');
      refused({ kvLens: [4] }, 'kv_lens[0] is 4, needed is 0 to 3');
      refused({ cuSeqlensQ: [0, 3] }, 'cu_seqlens_q and cu_seqlens_k are needed together');
      refused({ cuSeqlensQ: [0, 3], cuSeqlensK: [0, 2] }, 'cu_seqlens_k[1] is 2', 'length 3');
      const packed = { cuSeqlensQ: [0, 3], cuSeqlensK: [0, 3] };
      refused({ ...packed, kvLens: [1] }, 'packed sequences take no masks');
      refused({ pageTable: [0] }, 'pageTable and shape.pageSize are needed together');
      const pages = (change) => ({ shape: { ...good.shape, ...change } });
      refused(pages({ pageSize: 3 }), 'pageTable and shape.pageSize are needed together');
      refused(pages({ pageSize: 0 }), 'shape.pageSize is 0');
      refused({ ...pages({ pageSize: 2 }), pageTable: [0] }, 'shape.keys is 3', 'multiple', '2');
      const one = { ...pages({ pageSize: 3 }), pageTable: [0] };
      assert.deepEqual(forward({ ...one, form: 'auto' })(), forward({ form: 'decode' })());
      refused({ ...one, pageTable: [0, 0] }, 'pageTable has 2', 'batch x keys / pageSize');
      refused({ ...one, pageTable: [1] }, 'page_table[0][0] is 1, K has 1 pages');
      refused({ ...one, k: noise(13, 1) }, 'k has 13 elements', 'pages x kvHeads x pageSize');
      refused({ ...one, form: 'flash' }, 'page_table', 'decode');
    });

    test('what backward and weights do not take', () => {
      const a = { ...good, ...attn.attentionForward(good), dO: good.v };
      const backward = (change) => () => attn.attentionBackward({ ...a, ...change });
      const no = (call, ...texts) => assertAttnError(call, 'invalid-argument', ...texts);
      no(backward({ pageTable: [0] }), 'pageTable is unknown');
      no(backward({ shape: { ...good.shape, pageSize: 3 } }), 'only attentionForward reads pages');
      no(backward({ kvSplits: 2 }), 'kvSplits is unknown');
      no(() => attn.attentionWeights({ ...good, maskAdd: noise(9, 1) }), 'maskAdd is unknown');
    });
  });
}

for (const [variant, attn] of modules) {
  test(`attn ${variant}: the page's module names the one that has the rules`, () => {
    assert.equal(attn.full, false);
    const lacks = (call) => assertAttnError(call, 'unsupported', 'attn.full.*.wasm', 'full: true');
    attn.attentionForward(good); // the list of backends stays
    const before = attn.heapBytes;
    for (const change of [
      { window: { left: 1 } },
      { window: { right: 0 } },
      { softcap: 2 },
      { kvSplits: 1 },
      { form: 'decode' },
      { maskKeep: new Uint8Array(9) },
      { maskAdd: new Float32Array(9) },
      { sinks: new Float32Array(1) },
      { kvLens: [3] },
      { cuSeqlensQ: [0, 3], cuSeqlensK: [0, 3] },
      { pageTable: [0], shape: { ...good.shape, pageSize: 3 } },
    ]) {
      lacks(() => attn.attentionForward({ ...good, ...change }));
    }
    const forward = attn.attentionForward({ ...good, form: 'auto', window: {}, softcap: 0 });
    const sinks = new Float32Array(1);
    lacks(() => attn.attentionBackward({ ...good, ...forward, dO: forward.o, sinks }));
    lacks(() => attn.attentionWeights({ ...good, softcap: 1 }));
    lacks(() => attn.mergeStates({ a: forward, b: forward, rows: 3, valueWidth: 4 }));
    lacks(() => attn.rmsNorm({ x: good.q, w: good.q.slice(8), eps: 0, rows: 3, width: 4 }));
    lacks(() => attn.rotaryTables({ rows: 3, rotaryWidth: 4 }));
    assert.equal(attn.heapBytes, before);
  });
}
