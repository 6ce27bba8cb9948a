// eigen.hpp: eigenvalues and eigenvectors in C++, on top of eigen.h, which defines the collective and the blocking
// calls.
//
//   namespace sp = hiroba::sparse;
//   auto m = sp::ilu(a);
//   auto got = sp::eigenpairs(a, {.count = 4, .part = HIROBA_SMALLEST, .preconditioner = &m, .absolute = 1e-10});
//   got.values[0], got.residuals[0], got.vectors[0]
//
// T is float, double, or std::complex of one. Errors end the job with a message that names the place of the call.
#pragma once

#include <array>

#include "eigen.h"
#include "sparse.hpp"

namespace hiroba::sparse {

struct eigen_progress {
  int64_t steps, products;
  int found;
  std::complex<double> value;  // the one that is improved now
  double residual;
};

// Settings as in hiroba_eigen.
template <typename T>
struct eigen {
  int count = 1;
  int part = HIROBA_SMALLEST;
  std::complex<double> target = 0;
  bool general = false, harmonic = false;
  const linop<T>* preconditioner = nullptr;
  // The method of the correction equation, such as HIROBA_MINRES; -1: none.
  int correction = -1;
  double correction_relative = 0;
  int64_t correction_most = 0;
  double absolute = 0, relative = 0;
  int64_t most = 0;
  int space = 0, restart = 0;
  uint64_t seed = 0;
  bool may_fail = false;
  std::function<bool(const eigen_progress&)> progress = {};  // returns true to stop
};

template <typename T>
struct eigen_result : hiroba_eigen_result {
  std::vector<std::complex<double>> values;
  std::vector<double> residuals;
  std::vector<vector<T>> vectors;
  bool converged() const { return status == HIROBA_CONVERGED; }
};

template <typename T>
eigen_result<T> eigenpairs(const linop<T>& a, const std::type_identity_t<eigen<T>>& how = {},
                           location where = location::current()) {
  eigen_result<T> out = {};
  hiroba_solver correction = {};
  correction.method = how.correction, correction.relative = how.correction_relative;
  correction.most = how.correction_most;
  hiroba_eigen plain = {};
  plain.count = how.count, plain.part = how.part;
  plain.target[0] = how.target.real(), plain.target[1] = how.target.imag();
  plain.general = how.general ? 1 : 0, plain.harmonic = how.harmonic ? 1 : 0;
  if (how.preconditioner != nullptr) plain.preconditioner = how.preconditioner->handle();
  if (how.correction >= 0) plain.correction = &correction;
  plain.absolute = how.absolute, plain.relative = how.relative;
  plain.most = how.most, plain.space = how.space, plain.restart = how.restart, plain.seed = how.seed;
  plain.may_fail = how.may_fail ? 1 : 0;
  plain.context = const_cast<eigen<T>*>(&how);
  plain.progress = [](int64_t steps, int64_t products, int found, const double value[2], double residual, void* self) {
    const auto& progress = static_cast<const eigen<T>*>(self)->progress;
    return progress && progress({steps, products, found, {value[0], value[1]}, residual}) ? 1 : 0;
  };
  const auto room = static_cast<size_t>(std::max(how.count, 1));
  std::vector<double> values(2 * room);
  std::vector<void*> data;
  out.residuals.resize(room);
  for (size_t i = 0; i < room; ++i) out.vectors.emplace_back(a, where), data.push_back(out.vectors.back().data());
  hiroba::detail::stand_at(where);
  static_cast<hiroba_eigen_result&>(out) =
      (hiroba_eigenpairs)(a.handle(), &plain, values.data(), out.residuals.data(), data.data());
  for (size_t i = 0; i < static_cast<size_t>(out.count); ++i)
    out.values.push_back(how.general ? std::complex<double>(values[2 * i], values[2 * i + 1]) : values[i]);
  out.residuals.resize(out.values.size());
  return out;
}

}  // namespace hiroba::sparse
