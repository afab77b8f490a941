// SPDX-License-Identifier: Apache-2.0
// Written by numpy_random.py from NumPy 1.24.2: do not edit.
#ifndef ATTN_TESTS_GOLDEN_NUMPY_RANDOM_H_
#define ATTN_TESTS_GOLDEN_NUMPY_RANDOM_H_

#include <cstdint>

namespace attn::golden {

// FNV-1a over the 64-bit words of NumPy's ziggurat tables.
inline constexpr uint64_t kInsideHash = 0x7ea1a7e349ac15b9;
inline constexpr uint64_t kWidthHash = 0xd986c81d16602f41;
inline constexpr uint64_t kDensityHash = 0x0f4029a20099d656;

inline constexpr int64_t kDraws = 1000000;

// default_rng(seed): kDraws of standard_normal(), then three of random().
struct Stream {
  uint64_t seed;
  double first[5];
  double last;
  double largest;  // magnitude
  int64_t tail;    // how many are beyond 3.654...
  uint64_t hash;   // FNV-1a over the 64-bit words of all
  double uniform[3];
};

inline constexpr Stream kStreams[] = {
    {0u,
     {0x1.017ed89db8441p-3, -0x1.0e8cfe9bd45ccp-3, 0x1.47e57a468b06dp-1, 0x1.adabbec84d4f0p-4,
      -0x1.1243418e643edp-1},
     0x1.d4425c8dcce83p-3,
     0x1.2ed8650fafb3cp+2,
     266,
     0x34263581aeed4943,
     {0x1.19e0623d5c014p-3, 0x1.35b343728e154p-1, 0x1.d7ae954509db0p-5}},
    {1u,
     {0x1.61e0d28bbb3a1p-2, 0x1.a4ab22204681fp-1, 0x1.525e18ce5fc0ap-2, -0x1.4d9bb65b49607p+0,
      0x1.cf8acddd349f3p-1},
     -0x1.4ba2d7c66f839p+0,
     0x1.4296790ee8dbcp+2,
     279,
     0xd162458c9a73046b,
     {0x1.169c8d5507b26p-1, 0x1.393a00776d908p-4, 0x1.9311e2bc294bfp-1}},
    {12345u,
     {-0x1.6c7fcc2ecc744p+0, 0x1.4383b54eb0649p+0, -0x1.bdc76014d359ep-1, -0x1.0964b5602ac3cp-2,
      -0x1.349b2ef952a32p-4},
     -0x1.450e2776df8fap+0,
     0x1.3a84829fbdbbdp+2,
     243,
     0x26d6191308ceb2a4,
     {0x1.3c12c71dba3b1p-1, 0x1.dfbc2de1409e6p-2, 0x1.365f80b15e9b0p-1}},
    {4294967296u,
     {0x1.a5c170234e89ep-4, -0x1.f607a848d4287p-1, -0x1.a28c84dd75dedp-1, -0x1.0723442d6170dp+0,
      -0x1.261f7a4a1f871p-1},
     -0x1.6313e40d21340p+1,
     0x1.439b939f0d68bp+2,
     263,
     0xa78bb9fd5c47e597,
     {0x1.7196d8445b31cp-3, 0x1.efeca4b7d756bp-1, 0x1.ea6408f0a2b38p-3}},
    {18446744073709551615u,
     {0x1.715303191d87bp-1, -0x1.f10c32096a2bdp-1, 0x1.1b8d40660f8bfp-4, -0x1.2fb3a24341b2bp-2,
      -0x1.96bfdca5babc4p-6},
     -0x1.8b38d78003a9fp-1,
     0x1.3202308900cc3p+2,
     261,
     0x6539be7ef9b8bdce,
     {0x1.2183a11873320p-4, 0x1.7215b51e2abe9p-1, 0x1.880287c19c554p-2}},
};

}  // namespace attn::golden

#endif  // ATTN_TESTS_GOLDEN_NUMPY_RANDOM_H_
