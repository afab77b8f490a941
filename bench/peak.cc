// SPDX-License-Identifier: Apache-2.0
// The loops of peak.h, compiled once an instruction set by Highway.
#include "bench/peak.h"

// SSSE3 and SSE4 add nothing to these loops, nor do the AVX-512 extensions of Zen 4 and Sapphire
// Rapids: one target a width. AVX3 includes AVX-512VL; with avx512f alone clang uses 16 of the 32
// registers, and such a loop once gave 165 % of the peak to a kernel.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using V = hn::Vec<Tag<T>>;

// x * m + a: the chain runs through the factor. With the chain in the summand (x + m * a) a
// compiler may compute the product once for all chains where there is no fusing.
struct MulThenAdd {
  template <class W>
  static HWY_INLINE W Step(W x, W m, W a) {
    return hn::Add(hn::Mul(x, m), a);
  }
};

struct Fused {
  template <class W>
  static HWY_INLINE W Step(W x, W m, W a) {
    return hn::MulAdd(x, m, a);
  }
#if defined(__wasm_relaxed_simd__)
  // Highway 1.2 does not emit the relaxed instruction.
  static HWY_INLINE V<float> Step(V<float> x, V<float> m, V<float> a) {
    return V<float>{wasm_f32x4_relaxed_madd(x.raw, m.raw, a.raw)};
  }
  static HWY_INLINE V<double> Step(V<double> x, V<double> m, V<double> a) {
    return V<double>{wasm_f64x2_relaxed_madd(x.raw, m.raw, a.raw)};
  }
#endif
};

// Named variables, so that no compiler can choose to keep an array in memory. Seen with objdump
// (clang-19 -O2 and -O3, g++-12 -O2; f32 and f64): the loop is 48 vfmadd on 12 registers (zmm and
// ymm), or 48 mulps and 48 addps on 12 xmm, and its counter; no memory operand, nothing spilled.
template <class Operation, class T>
T Chains(int64_t rounds, const T* start, T multiplier, T addend) {
  const Tag<T> d;
  const V<T> m = hn::Set(d, multiplier);
  const V<T> a = hn::Set(d, addend);
  V<T> x0 = hn::Set(d, start[0]), x1 = hn::Set(d, start[1]), x2 = hn::Set(d, start[2]);
  V<T> x3 = hn::Set(d, start[3]), x4 = hn::Set(d, start[4]), x5 = hn::Set(d, start[5]);
  V<T> x6 = hn::Set(d, start[6]), x7 = hn::Set(d, start[7]), x8 = hn::Set(d, start[8]);
  V<T> x9 = hn::Set(d, start[9]), x10 = hn::Set(d, start[10]), x11 = hn::Set(d, start[11]);
  static_assert(kChains == 12);
  for (int64_t i = 0; i < rounds; ++i) {
    HWY_UNROLL(4)
    for (int step = 0; step < kStepsPerRound; ++step) {
      x0 = Operation::Step(x0, m, a);
      x1 = Operation::Step(x1, m, a);
      x2 = Operation::Step(x2, m, a);
      x3 = Operation::Step(x3, m, a);
      x4 = Operation::Step(x4, m, a);
      x5 = Operation::Step(x5, m, a);
      x6 = Operation::Step(x6, m, a);
      x7 = Operation::Step(x7, m, a);
      x8 = Operation::Step(x8, m, a);
      x9 = Operation::Step(x9, m, a);
      x10 = Operation::Step(x10, m, a);
      x11 = Operation::Step(x11, m, a);
    }
  }
  const V<T> low = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(x4, x5));
  const V<T> high = hn::Add(hn::Add(hn::Add(x6, x7), hn::Add(x8, x9)), hn::Add(x10, x11));
  return hn::GetLane(hn::Add(low, high));
}

// Integer sums, because their latency of one cycle never limits; eight, so that two loads a cycle
// are possible.
uint32_t Read(const void* data, int64_t bytes) {
  const Tag<uint32_t> d;
  using U = hn::Vec<decltype(d)>;
  const int64_t n = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t* p = static_cast<const uint32_t*>(data);
  const uint32_t* const end = p + bytes / 4;
  U s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (; p < end; p += 8 * n) {
    s0 = hn::Add(s0, hn::Load(d, p));
    s1 = hn::Add(s1, hn::Load(d, p + n));
    s2 = hn::Add(s2, hn::Load(d, p + 2 * n));
    s3 = hn::Add(s3, hn::Load(d, p + 3 * n));
    s4 = hn::Add(s4, hn::Load(d, p + 4 * n));
    s5 = hn::Add(s5, hn::Load(d, p + 5 * n));
    s6 = hn::Add(s6, hn::Load(d, p + 6 * n));
    s7 = hn::Add(s7, hn::Load(d, p + 7 * n));
  }
  const U low = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  const U high = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
}

#if HWY_HAVE_FLOAT64
#define ATTN_BENCH_F64(operation) Chains<operation, double>
#else
#define ATTN_BENCH_F64(operation) nullptr
#endif

constexpr PeakLoop kLoops[] = {
#if HWY_NATIVE_FMA || defined(__wasm_relaxed_simd__)
    {"fused", Chains<Fused, float>, ATTN_BENCH_F64(Fused)},
#endif
#if !HWY_NATIVE_FMA
    // Not beside native FMA: g++ contracts it to the same instruction.
    {"mul + add", Chains<MulThenAdd, float>, ATTN_BENCH_F64(MulThenAdd)},
#endif
};
#undef ATTN_BENCH_F64

}  // namespace attn::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cctype>
#include <string>
#include <vector>

#include "targets/targets.h"

namespace attn::bench {
namespace {

const Isa kCompiled[] = {
#define ATTN_BENCH_ISA(target, text, bytes) \
  {#target, text, HWY_##target, bytes, N_##target::kLoops, N_##target::Read},
#if HWY_TARGETS & HWY_AVX3
    ATTN_BENCH_ISA(AVX3, "AVX-512", 64)
#endif
#if HWY_TARGETS & HWY_AVX2
        ATTN_BENCH_ISA(AVX2, "AVX2", 32)
#endif
#if HWY_TARGETS & HWY_SSE2
            ATTN_BENCH_ISA(SSE2, "SSE2", 16)
#endif
#if HWY_TARGETS & HWY_NEON
                ATTN_BENCH_ISA(NEON, "NEON", 16)
#endif
#if HWY_TARGETS & HWY_NEON_WITHOUT_AES
                    ATTN_BENCH_ISA(NEON_WITHOUT_AES, "NEON", 16)
#endif
#if HWY_TARGETS & HWY_WASM
                        ATTN_BENCH_ISA(WASM, "WebAssembly 128-bit", 16)
#endif
#undef ATTN_BENCH_ISA
};

std::string Lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::span<const Isa> Isas() {
  static const std::vector<Isa> isas = [] {
    std::vector<Isa> list;
    for (const Isa& isa : kCompiled) {
      if ((SupportedHighwayBits() & isa.highway_bit) != 0) list.push_back(isa);
    }
    return list;
  }();
  return isas;
}

const Isa* IsaOf(std::string_view backend) {
  const std::span<const Isa> isas = Isas();
  if (isas.empty()) return nullptr;
  if (backend == "reference" || backend == "portable") return &isas.back();
  const size_t colon = backend.find(':');
  if (colon == std::string_view::npos) return nullptr;
  const std::string name = Lower(backend.substr(colon + 1));
  // The first that fits: "avx512..." before "avx2", and any extension of a width is that width.
  constexpr struct {
    const char* beginning;
    std::string_view isa;
  } kNames[] = {{"avx3", "AVX3"}, {"avx512", "AVX3"}, {"avx2", "AVX2"}, {"fma3", "AVX2"},
                {"sse", "SSE2"},  {"ssse", "SSE2"},   {"neon", "NEON"}, {"wasm", "WASM"}};
  for (const auto& known : kNames) {
    if (!name.starts_with(known.beginning)) continue;
    for (const Isa& isa : isas) {
      if (isa.name.starts_with(known.isa)) return &isa;
    }
  }
  return nullptr;
}

}  // namespace attn::bench
#endif  // HWY_ONCE
