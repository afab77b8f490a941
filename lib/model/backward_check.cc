// SPDX-License-Identifier: Apache-2.0
// The backward pass of Step 3 against derivatives that share no code with it.
#include <algorithm>
#include <cmath>

#include "attn/attention.h"
#include "attn/experiment.h"

namespace attn {
namespace {

// What the forward pass needs of std::complex, without the cases for infinities that its product
// and exp carry into a page's module.
struct Complex {
  double re = 0, im = 0;
};
Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, double b) { return {a.re - b, a.im}; }
Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Complex operator*(Complex a, double b) { return {a.re * b, a.im * b}; }
Complex operator/(Complex a, Complex b) {
  const double norm = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / norm, (a.im * b.re - a.re * b.im) / norm};
}
// Imaginary parts are h times a derivative, far below 1e-16: there cos is 1 and sin the angle
// itself to the last bit. Calling them would add 3 kB to a page's module.
Complex Exp(Complex a) {
  const double size = std::exp(a.re);
  return {size, size * a.im};
}

// The loss sum(dO o O) of attention over [n][d] matrices, by equation (1).
Complex Loss(const std::vector<Complex>& q, const std::vector<Complex>& k,
             const std::vector<Complex>& v, const std::vector<double>& d_o, size_t n, size_t d) {
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  std::vector<Complex> s(n);
  Complex loss;
  for (size_t i = 0; i < n; ++i) {
    double max = -INFINITY;
    for (size_t j = 0; j < n; ++j) {
      s[j] = {};
      for (size_t c = 0; c < d; ++c) s[j] = s[j] + q[i * d + c] * k[j * d + c];
      s[j] = s[j] * scale;
      max = std::max(max, s[j].re);  // a real constant: the derivative does not see it
    }
    Complex sum, row;
    for (size_t j = 0; j < n; ++j) {
      const Complex weight = Exp(s[j] - max);
      sum = sum + weight;
      for (size_t c = 0; c < d; ++c) row = row + weight * v[j * d + c] * d_o[i * d + c];
    }
    loss = loss + row / sum;
  }
  return loss;
}

std::vector<Complex> Widen(const std::vector<double>& x) {
  std::vector<Complex> result(x.size());
  for (size_t i = 0; i < x.size(); ++i) result[i].re = x[i];
  return result;
}

View<double, 4> Matrix(std::vector<double>& x, int64_t n, int64_t d) {
  return {x.data(), {1, 1, n, d}};
}

}  // namespace

Result<BackwardCheck> CheckBackward(const Backend& backend, uint64_t seed, int64_t n, int64_t d) {
  if (n < 1 || n > 64) return InvalidArgument("n: ", n, " is not in 1..64");
  if (d < 1 || d > 64) return InvalidArgument("d: ", d, " is not in 1..64");
  const auto size = static_cast<size_t>(n * d);
  std::vector<double> q(size), k(size), v(size), d_o(size);
  Generator generator(seed);
  for (auto* x : {&q, &k, &v, &d_o}) generator.StandardNormal(*x);

  std::vector<double> o(size), lse(static_cast<size_t>(n)), dq(size), dk(size), dv(size);
  const AttentionInputs<double> in = {Matrix(q, n, d), Matrix(k, n, d), Matrix(v, n, d)};
  const View<double, 3> lse_view(lse.data(), {1, 1, n});
  ATTN_RETURN_IF_ERROR(AttentionForward<double>(backend, in, {}, {Matrix(o, n, d), lse_view}));
  ATTN_RETURN_IF_ERROR(
      AttentionBackward<double>(backend, in, {}, {Matrix(o, n, d), lse_view, Matrix(d_o, n, d), {}},
                                {Matrix(dq, n, d), Matrix(dk, n, d), Matrix(dv, n, d)}));

  constexpr double kStep = 1e-100;
  std::vector<Complex> inputs[] = {Widen(q), Widen(k), Widen(v)};
  const std::vector<double>* gradients[] = {&dq, &dk, &dv};
  double errors[3] = {};
  for (int which = 0; which < 3; ++which) {
    for (size_t at = 0; at < size; ++at) {
      inputs[which][at].im = kStep;
      const Complex loss = Loss(inputs[0], inputs[1], inputs[2], d_o, static_cast<size_t>(n),
                                static_cast<size_t>(d));
      inputs[which][at].im = 0;
      errors[which] = std::max(errors[which], std::abs((*gradients[which])[at] - loss.im / kStep));
    }
  }
  return BackwardCheck{errors[0], errors[1], errors[2]};
}

}  // namespace attn
