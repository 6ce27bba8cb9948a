#include "eigen/extraction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hiroba {

namespace {

using Z = std::complex<double>;

// Runs compute() on rank 0, and broadcasts its result in `values` to all ranks.
template <typename W>
Status on_first_rank(const Ranks& ranks, std::vector<W>& values, const std::function<Status()>& compute) {
  Status done;
  values.push_back(W(0));
  if (ranks.me() == 0) {
    done = compute();
    values.back() = W(done.ok() ? 1 : 0);
  }
  if (ranks.count() > 1)
    HIROBA_TRY(ranks.perform(plan_bcast({ranks.me(), ranks.count()}, 0, values.data(), values.size() * sizeof(W)),
                             "coefficients"));
  if (!done.ok()) return done;
  if (values.back() == W(0)) return Status::error("rank 0 could not solve a small dense problem");
  values.pop_back();
  return {};
}

std::vector<int> sorted(const std::vector<double>& values, Order order) {
  std::vector<int> out(values.size());
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return order.key(values[a]) < order.key(values[b]); });
  return out;
}

template <typename W>
Dense<W> columns_of(const Dense<W>& from, const std::vector<int>& which) {
  Dense<W> out(from.rows, static_cast<int>(which.size()));
  for (int j = 0; j < out.columns; ++j) std::copy_n(from.column(which[j]), from.rows, out.column(j));
  return out;
}

// Computes Ritz vectors; for a general matrix Schur vectors.
template <typename W>
Status plain(const EigenSettings& settings, const Dense<W>& h, Order order, Extraction<W>& out) {
  out.largest = 0;
  if constexpr (is_complex<W>) {
    if (settings.general) {
      Zdense triangle;
      HIROBA_TRY(schur(h, order, triangle, out.s));
      for (int i = 0; i < h.rows; ++i) out.largest = std::max(out.largest, std::abs(triangle.at(i, i)));
      out.value = triangle.at(0, 0);
      return {};
    }
  }
  std::vector<double> values;
  Dense<W> vectors;
  HIROBA_TRY(hermitian_eigen(h, values, vectors));
  const std::vector<int> best = sorted(values, order);
  out.s = columns_of(vectors, best);
  out.value = values[best[0]];
  for (const double value : values) out.largest = std::max(out.largest, std::fabs(value));
  return {};
}

// Computes harmonic vectors: B s = nu C s with smallest nu, where W = (A - target) V, B = W* W and C = W* V.
template <typename W>
Status harmonic(const EigenSettings& settings, const Dense<W>& h, const Dense<W>& m, Dense<W>& out, bool& found) {
  const int n = h.rows;
  W target;
  if constexpr (is_complex<W>) target = settings.target;
  else target = settings.target.real();
  Dense<W> b(n, n), c(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const W adjoint = conjugated(h.at(j, i), true), one = i == j ? W(1) : W(0);
      b.at(i, j) = m.at(i, j) - target * adjoint - conjugated(target, true) * h.at(i, j) + W(std::norm(target)) * one;
      c.at(i, j) = adjoint - conjugated(target, true) * one;
    }
  constexpr Order larger = {Part::largest_magnitude};
  if constexpr (is_complex<W>) {
    if (settings.general) {
      HIROBA_TRY(solve_dense(b, c, found));
      Zdense triangle;
      return found ? schur(c, larger, triangle, out) : Status();
    }
  }
  std::vector<double> values;
  Dense<W> vectors;
  HIROBA_TRY(pencil_eigen(c, b, values, vectors, found));
  if (found) out = columns_of(vectors, sorted(values, larger));
  return {};
}

template <typename W>
W quotient(const Dense<W>& h, const W* s) {
  W above = 0;
  double below = 0;
  for (int j = 0; j < h.rows; ++j) {
    below += std::norm(s[j]);
    for (int i = 0; i < h.rows; ++i) above += conjugated(s[i], true) * h.at(i, j) * s[j];
  }
  return above / below;
}

// Returns an orthonormal basis of the columns, in their order; those that depend on earlier ones are left out.
template <typename W>
Dense<W> orthonormal(const Dense<W>& columns) {
  Dense<W> out(columns.rows, columns.columns);
  const int n = columns.rows;
  int k = 0;
  for (int j = 0; j < columns.columns && k < n; ++j) {
    W* const x = out.column(k);
    std::copy_n(columns.column(j), n, x);
    const double before = project_out(out, 0, x);
    project_out(out, k, x);
    const double after = project_out(out, k, x);
    if (!(after > 1e-8 * before)) continue;
    for (int i = 0; i < n; ++i) x[i] /= after;
    ++k;
  }
  out.columns = k;
  out.values.resize(static_cast<size_t>(n) * static_cast<size_t>(k));
  return out;
}

template <typename W>
Status extract_here(const EigenSettings& settings, const Dense<W>& h, const Dense<W>& m, bool refines,
                    Extraction<W>& out) {
  Dense<W> vectors;
  bool found = false;
  if (settings.harmonic) HIROBA_TRY(harmonic(settings, h, m, vectors, found));
  const W near = found ? quotient(h, vectors.column(0)) : W(0);
  if (!found || !std::isfinite(std::abs(near))) return plain(settings, h, {settings.part, settings.target}, out);
  HIROBA_TRY(plain(settings, h, {Part::closest, near}, out));
  if (refines) {
    Dense<W> all(h.rows, vectors.columns + 1);
    std::copy_n(out.s.column(0), h.rows, all.column(0));
    std::copy(vectors.values.begin(), vectors.values.end(), all.column(1));
    vectors = std::move(all);
  }
  out.s = orthonormal(vectors);
  out.value = quotient(h, out.s.column(0));
  return {};
}

}  // namespace

double Order::key(Z value) const {
  switch (part) {
    case Part::smallest: return value.real();
    case Part::largest: return -value.real();
    case Part::closest: return std::abs(value - target);
    case Part::largest_magnitude: break;
  }
  return -std::abs(value);
}

template <typename W>
Status extract(const Ranks& ranks, const EigenSettings& settings, const Dense<W>& h, const Dense<W>& m, bool refines,
               Extraction<W>& out) {
  const auto n = static_cast<size_t>(h.rows);
  std::vector<W> values(n * n + 3);
  HIROBA_TRY(on_first_rank<W>(ranks, values, [&]() -> Status {
    HIROBA_TRY(extract_here(settings, h, m, refines, out));
    std::copy(out.s.values.begin(), out.s.values.end(), values.begin());
    values[n * n] = W(out.s.columns), values[n * n + 1] = out.value, values[n * n + 2] = W(out.largest);
    return {};
  }));
  out.s = Dense<W>(h.rows, static_cast<int>(std::real(values[n * n])));
  std::copy_n(values.begin(), out.s.values.size(), out.s.values.begin());
  out.value = values[n * n + 1], out.largest = std::real(values[n * n + 2]);
  return {};
}

namespace {

template <typename W>
Status extract_found_here(const EigenSettings& settings, const Dense<W>& h, const Dense<W>& gram,
                          std::vector<Z>& values, Dense<W>& vectors) {
  const Order order = {settings.part, settings.target};
  if constexpr (is_complex<W>) {
    if (settings.general) {
      Zdense triangle, q, y;
      HIROBA_TRY(schur(h, order, triangle, q));
      HIROBA_TRY(triangle_eigen(triangle, y));
      vectors = Zdense(h.rows, h.rows);
      for (int j = 0; j < h.rows; ++j) {
        values.push_back(triangle.at(j, j));
        for (int k = 0; k <= j; ++k)
          for (int i = 0; i < h.rows; ++i) vectors.at(i, j) += q.at(i, k) * y.at(k, j);
      }
      return {};
    }
  }
  std::vector<double> sizes;
  Dense<W> all;
  bool definite = false;
  HIROBA_TRY(pencil_eigen(h, gram, sizes, all, definite));
  if (!definite) return Status::error("the vectors that have been found depend on each other");
  const std::vector<int> best = sorted(sizes, order);
  vectors = columns_of(all, best);
  for (const int i : best) values.emplace_back(sizes[i]);
  return {};
}

}  // namespace

template <typename W>
Status extract_found(const Ranks& ranks, const EigenSettings& settings, const Dense<W>& h, const Dense<W>& gram,
                     std::vector<Z>& values, Dense<W>& vectors) {
  const auto n = static_cast<size_t>(h.rows);
  std::vector<W> all(n * n + n);
  HIROBA_TRY(on_first_rank<W>(ranks, all, [&]() -> Status {
    values.clear();
    HIROBA_TRY(extract_found_here(settings, h, gram, values, vectors));
    std::copy(vectors.values.begin(), vectors.values.end(), all.begin());
    for (size_t i = 0; i < n; ++i) {
      if constexpr (is_complex<W>) all[n * n + i] = values[i];
      else all[n * n + i] = values[i].real();
    }
    return {};
  }));
  vectors = Dense<W>(h.rows, h.rows);
  std::copy_n(all.begin(), n * n, vectors.values.begin());
  values.assign(all.begin() + static_cast<std::ptrdiff_t>(n * n), all.end());
  return {};
}

template Status extract(const Ranks&, const EigenSettings&, const Dense<double>&, const Dense<double>&, bool,
                        Extraction<double>&);
template Status extract(const Ranks&, const EigenSettings&, const Zdense&, const Zdense&, bool, Extraction<Z>&);
template Status extract_found(const Ranks&, const EigenSettings&, const Dense<double>&, const Dense<double>&,
                              std::vector<Z>&, Dense<double>&);
template Status extract_found(const Ranks&, const EigenSettings&, const Zdense&, const Zdense&, std::vector<Z>&,
                              Zdense&);

}  // namespace hiroba
