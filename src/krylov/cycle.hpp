// Common to the methods: a cycle begins with x and r = b - A x, and improves x until the method's own residual is small
// enough, or it cannot continue. solve() (solve.cpp) compares it with the residual of x, and begins another cycle if
// that is larger.
#pragma once

#include <cmath>

#include "krylov/krylov.hpp"

namespace hiroba {

template <typename T>
struct Cycle {
  using R = Real<T>;

  const Ranks& ranks;
  Operator<T>& a;
  Operator<T>* m;
  const SolverSettings& settings;
  int64_t n;
  const T* b;
  T* x;
  T* r;
  double residual;  // |r|
  Outcome& out;

  // `drifted`: impossible sums, after iterations whose rounding errors may have caused them.
  enum class End { reached, over, drifted, broke_down };
  End end = End::over;
  std::string why = {};  // reason of broke_down

  Vectors<T> vectors() const { return {ranks, n}; }
  Status product(const T* from, T* to) {
    ++out.products;
    return a.apply(ranks, from, to);
  }
  // r = b - A x
  Status find_residual() {
    HIROBA_TRY(product(x, r));
    in_strips<T>(n, 3 * sizeof(T), [&](int64_t i, int64_t count) {
      hiroba::scal(count, T(-1), r + i), hiroba::axpy(count, T(1), b + i, r + i);
    });
    return {};
  }
  Status precondition(const T* from, T* to) {
    if (m != nullptr) return m->apply(ranks, from, to);
    vectors().copy(from, to);
    return {};
  }
  // Called after an iteration: sets `ends` if the cycle ends. It ends on all ranks if the program's function stops it
  // on any.
  Status after_iteration(double norm, bool& ends) {
    ++out.iterations;
    out.history.push_back(residual = norm);
    end = norm <= out.goal ? End::reached : End::over;
    int64_t stop = 0;
    if (settings.progress != nullptr) {
      stop = settings.progress(out.iterations, norm, settings.context) ? 1 : 0;
      HIROBA_TRY(ranks.add(stop, Op::max));
    }
    if (stop != 0) out.why = Outcome::Why::stopped;
    ends = stop != 0 || norm <= out.goal || out.iterations >= settings.most || !std::isfinite(norm);
    return {};
  }
  Status broken(std::string reason) {
    why = std::move(reason), end = End::broke_down;
    return {};
  }
};

template <typename T>
Status cg(Cycle<T>& c);
template <typename T>
Status pipelined_cg(Cycle<T>& c);
template <typename T>
Status bicgstab(Cycle<T>& c);
template <typename T>
Status gmres(Cycle<T>& c);
template <typename T>
Status minres(Cycle<T>& c);

template <typename T>
Real<T> real_of(const T& x) {
  if constexpr (is_complex<T>) return x.real();
  else return x;
}
// Checks a sum that is positive in exact arithmetic if the matrix and the preconditioner meet the method's
// requirements.
template <typename T>
bool is_positive(const T& x) {
  return real_of(x) > 0 && std::isfinite(real_of(x));
}

}  // namespace hiroba
