# SPDX-License-Identifier: Apache-2.0
"""The C interface (attn.h) from Python, with ctypes and nothing else.

    cmake --build --preset release --target attn_c
    python3 wasm/attn_ctypes.py build/release/wasm/libattn_c.so

Causal attention over the three tokens of the article's Step 1, then the gradients of the sum of all
outputs. With NumPy an array `x` becomes a tensor by its `x.ctypes.data`, `x.shape` and `x.strides`
(NumPy's count bytes, attn's count elements).
"""
import array
import ctypes
import sys

F32 = 0


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
        ("query_offset", ctypes.c_int64),
        ("scale", ctypes.c_double),
    ]


class Array:
    """A dense f32 tensor of [batch][heads][tokens][width], or without the last axis."""

    def __init__(self, shape, values=None):
        count = 1
        for extent in shape:
            count *= extent
        self.values = array.array("f", values if values is not None else [0.0] * count)
        extents = list(shape) + [1] * (4 - len(shape))
        strides = [1] * 4
        for axis in (2, 1, 0):
            strides[axis] = strides[axis + 1] * extents[axis + 1]
        four = ctypes.c_int64 * 4
        address, _ = self.values.buffer_info()
        self.tensor = Tensor(
            ctypes.sizeof(Tensor), F32, len(shape), 0, address, four(*extents), four(*strides)
        )

    def pointer(self):
        return ctypes.byref(self.tensor)


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
call(library.attn_attention_forward, fastest, causal,
     q.pointer(), k.pointer(), v.pointer(), o.pointer(), lse.pointer())
print("o of token 3: ", " ".join(f"{x:.3f}" for x in o.values[8:]))

d_o = Array(tokens, [1.0] * 12)
dq, dk, dv = Array(tokens), Array(tokens), Array(tokens)
call(library.attn_attention_backward, fastest, causal,
     q.pointer(), k.pointer(), v.pointer(), o.pointer(), lse.pointer(), d_o.pointer(), None,
     dq.pointer(), dk.pointer(), dv.pointer())
print("dq of token 3:", " ".join(f"{x:.3f}" for x in dq.values[8:]))
print("dv of token 1:", " ".join(f"{x:.3f}" for x in dv.values[:4]))

try:
    call(library.attn_attention_forward, fastest, causal,
         q.pointer(), Array((1, 1, 3, 5)).pointer(), v.pointer(), o.pointer(), lse.pointer())
except ValueError as error:
    print("refused:      ", error)
