// Operators and vectors with numbers so large or small that sums of squares would overflow or underflow: methods use
// them times powers of 2, which changes no digit.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "krylov/vectors.hpp"

namespace hiroba {

// Returns the power of 2 next to a size if squares of it, squares of its rounding errors, or products with another such
// size may leave the range of numbers; else 0.
template <typename T>
int extreme_exponent(double size) {
  constexpr int most = std::numeric_limits<Real<T>>::max_exponent / 8;
  if (!(size > 0) || !std::isfinite(size)) return 0;
  const int out = std::ilogb(size);
  return std::abs(out) > most ? out : 0;
}

// x times 2^exponent
template <typename T>
void scale_by_power(int64_t n, int exponent, T* x) {
  constexpr int most = std::numeric_limits<Real<T>>::max_exponent / 2;
  while (exponent != 0) {
    const int step = std::clamp(exponent, -most, most);
    scal_by_threads(n, T(std::ldexp(Real<T>(1), step)), x, 1, true);
    exponent -= step;
  }
}

// Returns the exponent of |A|, by a random vector; computed once for each operator.
template <typename T>
Status find_exponent(const Ranks& ranks, Operator<T>& a, int& out) {
  if (!a.exponent) {
    const Vectors<T> vectors = {ranks, a.rows().of(ranks.me())};
    const Workspace<T> work(vectors.n, 2);
    for (int64_t i = 0; i < vectors.n; ++i) work[0][i] = random_element<T>(3, a.rows().begin(ranks.me()) + i);
    Real<T> from = 0, to = 0;
    HIROBA_TRY(a.apply(ranks, work[0], work[1]));
    HIROBA_TRY(vectors.norm(work[0], from));
    HIROBA_TRY(vectors.norm(work[1], to));
    a.exponent = extreme_exponent<T>(static_cast<double>(to) / static_cast<double>(from));
  }
  out = *a.exponent;
  return {};
}

// An operator divided by 2^exponent.
template <typename T>
class ScaledOperator final : public Operator<T> {
 public:
  ScaledOperator(Operator<T>& a, int exponent) : a_(a), divisor_(exponent) {
    this->known_hermitian = a.known_hermitian, this->exponent = 0;
  }
  const Rows& rows() const override { return a_.rows(); }
  std::string what() const override { return a_.what(); }
  Status apply(const Ranks& ranks, const T* x, T* y) override {
    HIROBA_TRY(a_.apply(ranks, x, y));
    scale_by_power(rows().of(ranks.me()), -divisor_, y);
    return {};
  }

 private:
  Operator<T>& a_;
  int divisor_;
};

// Makes an operator divided by the power of 2 next to its size, if there is one.
template <typename T>
Status scale(const Ranks& ranks, Operator<T>* a, std::optional<ScaledOperator<T>>& out) {
  if (a == nullptr) return {};
  int exponent = 0;
  HIROBA_TRY(find_exponent(ranks, *a, exponent));
  out.emplace(*a, exponent);
  return {};
}

}  // namespace hiroba
