// SPDX-License-Identifier: Apache-2.0
// portable_f32.cc for f64.
#include <cstdint>
#include <limits>

#include "kernels/tasks.h"
#include "math/visibility.h"
#include "simd/vector.h"
#include "targets/targets.h"

namespace attn {
namespace {

#include "simd/portable-inl.h"
#include "kernels/kernels-inl.h"

}  // namespace

const KernelTable<double>* PortableF64() { return &kTable<double>; }

}  // namespace attn
