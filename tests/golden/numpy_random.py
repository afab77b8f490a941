#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes numpy_random.h from the NumPy that is installed: python3 numpy_random.py > numpy_random.h

Needed again only when seeds are added. The tables of the ziggurat are not exported by NumPy; they
are found in its binary by their first entries.
"""
import glob
import struct

import numpy

SEEDS = [0, 1, 12345, 2**32, 2**64 - 1]
DRAWS = 1000000
TAIL = 3.6541528853610087963519472518


def fnv1a(words):
    """FNV-1a over 64-bit words."""
    state = 0xCBF29CE484222325
    for word in words:
        state = (state ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def bits(values):
    return numpy.asarray(values, dtype=numpy.float64).view(numpy.uint64).tolist()


def table(pattern):
    for name in sorted(glob.glob(numpy.__path__[0] + "/random/*.so")):
        with open(name, "rb") as file:
            data = file.read()
        at = data.find(pattern)
        if at >= 0:
            return struct.unpack("<256Q", data[at : at + 2048])
    raise SystemExit("no table in this NumPy starts with " + pattern.hex())


inside = table(struct.pack("<QQ", 0x000EF33D8025EF6A, 0))
width = table(struct.pack("<d", 8.68362706080130616677e-16))
density = table(struct.pack("<dd", 1.0, 9.77101701267671596263e-01))

print(f"""// SPDX-License-Identifier: Apache-2.0
// Written by numpy_random.py from NumPy {numpy.__version__}: do not edit.
#ifndef ATTN_TESTS_GOLDEN_NUMPY_RANDOM_H_
#define ATTN_TESTS_GOLDEN_NUMPY_RANDOM_H_

#include <cstdint>

namespace attn::golden {{

// FNV-1a over the 64-bit words of NumPy's ziggurat tables.
inline constexpr uint64_t kInsideHash = {fnv1a(inside):#018x};
inline constexpr uint64_t kWidthHash = {fnv1a(width):#018x};
inline constexpr uint64_t kDensityHash = {fnv1a(density):#018x};

inline constexpr int64_t kDraws = {DRAWS};

// default_rng(seed): kDraws of standard_normal(), then three of random().
struct Stream {{
  uint64_t seed;
  double first[5];
  double last;
  double largest;  // magnitude
  int64_t tail;    // how many are beyond 3.654...
  uint64_t hash;   // FNV-1a over the 64-bit words of all
  double uniform[3];
}};

inline constexpr Stream kStreams[] = {{""")
for seed in SEEDS:
    generator = numpy.random.default_rng(seed)
    normal = generator.standard_normal(DRAWS)
    uniform = generator.random(3)
    first = ", ".join(x.hex() for x in normal[:5].tolist())
    after = ", ".join(x.hex() for x in uniform.tolist())
    print(f"""    {{{seed}u,
     {{{first}}},
     {float(normal[-1]).hex()},
     {float(abs(normal).max()).hex()},
     {int((abs(normal) > TAIL).sum())},
     {fnv1a(bits(normal)):#018x},
     {{{after}}}}},""")
print("""};

}  // namespace attn::golden

#endif  // ATTN_TESTS_GOLDEN_NUMPY_RANDOM_H_""")
