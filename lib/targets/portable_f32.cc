// SPDX-License-Identifier: Apache-2.0
// The kernels in plain C++, compiled for the machine that every program of this build runs on. f64
// has a file of its own, which the modules for pages do without.
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

const KernelTable<float>* PortableF32() { return &kTable<float>; }

}  // namespace attn
