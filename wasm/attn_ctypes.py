# SPDX-License-Identifier: Apache-2.0
"""The C interface (attn.h) from Python, with ctypes and nothing else.

    cmake --build --preset release --target attn_c
    python3 wasm/attn_ctypes.py build/release/wasm/libattn_c.so

Causal attention over the three tokens of the article's Step 1, the gradients of the sum of all
outputs, then a mask, and one new token that reads a cache in pages. With NumPy an array `x` becomes a tensor by its `x.ctypes.data`, `x.shape` and `x.strides`
(NumPy's count bytes, attn's count elements).
"""
import array
import ctypes
import sys

F32, U8, I64 = 0, 2, 3
TYPE_CODES = {F32: "f", U8: "B", I64: "q"}  # of the module array


class Tensor(ctypes.Structure):
    """attn_tensor: a view of somebody else's memory."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("data", ctypes.c_uint64),  # a pointer, 64 bits on every platform
        ("shape", ctypes.c_int64 * 4),
        ("strides", ctypes.c_int64 * 4),
    ]


class AttentionOptions(ctypes.Structure):
    """attn_attention_options; what is 0 is the default."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("form", ctypes.c_int32),
        ("causal", ctypes.c_int32),
        ("align", ctypes.c_int32),
        ("has_query_offset", ctypes.c_int32),
        ("has_scale", ctypes.c_int32),
        ("has_window_left", ctypes.c_int32),
        ("has_window_right", ctypes.c_int32),
        ("query_offset", ctypes.c_int64),
        ("window_left", ctypes.c_int64),
        ("window_right", ctypes.c_int64),
        ("kv_splits", ctypes.c_int64),
        ("scale", ctypes.c_double),
        ("softcap", ctypes.c_double),
    ]


class AttentionRules(ctypes.Structure):
    """attn_attention_rules: pointers to tensors, 64 bits each; what is 0 is absent."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_int32),
        ("mask_keep", ctypes.c_uint64),
        ("mask_add", ctypes.c_uint64),
        ("sinks", ctypes.c_uint64),
        ("kv_lens", ctypes.c_uint64),
        ("page_table", ctypes.c_uint64),
        ("cu_seqlens_q", ctypes.c_uint64),
        ("cu_seqlens_k", ctypes.c_uint64),
    ]


class Array:
    """A dense tensor of [batch][heads][tokens][width], or of fewer axes."""

    def __init__(self, shape, values=None, dtype=F32):
        count = 1
        for extent in shape:
            count *= extent
        self.values = array.array(TYPE_CODES[dtype], values if values is not None else [0] * count)
        extents = list(shape) + [1] * (4 - len(shape))
        strides = [1] * 4
        for axis in (2, 1, 0):
            strides[axis] = strides[axis + 1] * extents[axis + 1]
        four = ctypes.c_int64 * 4
        address, _ = self.values.buffer_info()
        self.tensor = Tensor(
            ctypes.sizeof(Tensor), dtype, len(shape), 0, address, four(*extents), four(*strides)
        )

    def pointer(self):
        return ctypes.byref(self.tensor)

    def address(self):
        return ctypes.addressof(self.tensor)


def call(function, *arguments):
    """Raises what the library says; it never throws, aborts or prints."""
    if function(*arguments) != 0:
        raise ValueError(library.attn_last_error().decode())


library = ctypes.CDLL(sys.argv[1])
library.attn_last_error.restype = ctypes.c_char_p

tokens = (1, 1, 3, 4)
q = Array(tokens, [1, 1, 0, 0, 0, 0, 0, 2, 2, 0, 2, 0])
k = Array(tokens, [1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0])
v = Array(tokens, [1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 3])
o, lse = Array(tokens), Array(tokens[:3])
causal = ctypes.byref(AttentionOptions(size=ctypes.sizeof(AttentionOptions), causal=1))
fastest = None  # or a name, b"highway:AVX2"
no_rules = None
call(library.attn_attention_forward, fastest, causal, no_rules,
     q.pointer(), k.pointer(), v.pointer(), o.pointer(), lse.pointer())
print("o of token 3: ", " ".join(f"{x:.3f}" for x in o.values[8:]))

d_o = Array(tokens, [1.0] * 12)
dq, dk, dv = Array(tokens), Array(tokens), Array(tokens)
call(library.attn_attention_backward, fastest, causal, no_rules,
     q.pointer(), k.pointer(), v.pointer(), o.pointer(), lse.pointer(), d_o.pointer(), None,
     dq.pointer(), dk.pointer(), dv.pointer(), None)
print("dq of token 3:", " ".join(f"{x:.3f}" for x in dq.values[8:]))
print("dv of token 1:", " ".join(f"{x:.3f}" for x in dv.values[:4]))

# Tokens 1 and 2 may read token 1, token 3 the tokens 1 and 2: 1 keeps, 0 hides.
keep = Array((1, 1, 3, 3), [1, 0, 0, 1, 0, 0, 1, 1, 0], U8)
rules = AttentionRules(size=ctypes.sizeof(AttentionRules), mask_keep=keep.address())
call(library.attn_attention_forward, fastest, None, ctypes.byref(rules),
     q.pointer(), k.pointer(), v.pointer(), o.pointer(), lse.pointer())
print("masked:       ", " ".join(f"{x:.3f}" for x in o.values[8:]))

# Three tokens of one sequence in pages of two: first the page 1, then the page 0. What lies behind
# the third token is never read.
nan = float("nan")
pages = (2, 1, 2, 4)
k_pages = Array(pages, [1, 1, 0, 0, nan, nan, nan, nan, 1, 0, 1, 0, 0, 1, 0, 1])
v_pages = Array(pages, [0, 0, 0, 3, nan, nan, nan, nan, 1, 0, 1, 0, 0, 2, 0, 0])
page_table = Array((1, 2), [1, 0], I64)
kv_lens = Array((1,), [3], I64)
rules = AttentionRules(size=ctypes.sizeof(AttentionRules), page_table=page_table.address(),
                       kv_lens=kv_lens.address())
last, answer = Array((1, 1, 1, 4), [2, 0, 2, 0]), Array((1, 1, 1, 4))
call(library.attn_set_threads, 2)  # the bits are those of one thread
call(library.attn_attention_forward, fastest, None, ctypes.byref(rules),
     last.pointer(), k_pages.pointer(), v_pages.pointer(), answer.pointer(), None)
print("from pages:   ", " ".join(f"{x:.3f}" for x in answer.values))

try:
    call(library.attn_attention_forward, fastest, causal, no_rules,
         q.pointer(), Array((1, 1, 3, 5)).pointer(), v.pointer(), o.pointer(), lse.pointer())
except ValueError as error:
    print("refused:      ", error)
