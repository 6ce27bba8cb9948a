// GMRES(m) with a preconditioner from the right (Saad, Schultz 1986): after m vectors x is improved, and the method
// restarts from there. A vector is made orthogonal to all others at once, and again if that has cancelled digits.
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "krylov/cycle.hpp"

namespace hiroba {

namespace {

template <typename T>
struct Arnoldi {
  using R = Real<T>;
  static constexpr R rounding = 32 * std::numeric_limits<R>::epsilon();

  Cycle<T>& c;
  int most;
  Workspace<T> v;             // orthonormal; the last one holds the preconditioner's result
  std::vector<T> h, g, sine;  // the triangle, by columns of most + 1; the rotated right side
  std::vector<R> cosine;
  R largest = 0;  // of the triangle's diagonal

  Arnoldi(Cycle<T>& cycle, int restart)
      : c(cycle),
        most(restart),
        v(cycle.n, restart + 2),
        h(static_cast<size_t>(restart) * static_cast<size_t>(restart + 1)),
        g(static_cast<size_t>(restart) + 1),
        sine(static_cast<size_t>(restart)),
        cosine(static_cast<size_t>(restart)) {}

  T& at(int row, int column) {
    return h[static_cast<size_t>(column) * (static_cast<size_t>(most) + 1) + static_cast<size_t>(row)];
  }
  T* prepared() const { return v[most + 1]; }

  // Computes vector j + 1, and column j of the triangle. `length`: of the new vector before it is scaled.
  Status extend(int j, R& length) {
    const Vectors<T> vectors = c.vectors();
    T* const w = v[j + 1];
    HIROBA_TRY(c.precondition(v[j], prepared()));
    HIROBA_TRY(c.product(prepared(), w));
    std::vector<const T*> before;
    for (int i = 0; i <= j; ++i) before.push_back(v[i]), at(i, j) = 0;
    std::vector<T> along(before.size());
    R whole;
    HIROBA_TRY(vectors.norm(w, whole));
    for (int pass = 0; pass < 2; ++pass) {
      HIROBA_TRY(vectors.dots(before, w, along.data()));
      for (int i = 0; i <= j; ++i) {
        T& part = along[i];
        at(i, j) += part, part = -part;
      }
      vectors.combine(along.data(), before, w);
      HIROBA_TRY(vectors.norm(w, length));
      if (length > R(0.7) * whole) break;
      if (length <= rounding * whole) {  // the rest is rounding errors
        length = 0;
        break;
      }
      whole = length;
    }
    if (length > 0) vectors.scal(T(1 / length), w);
    return {};
  }

  // Rotations make column j a part of the triangle; |g[j + 1]| is the residual.
  void rotate(int j, R length) {
    for (int i = 0; i < j; ++i) turn(i, at(i, j), at(i + 1, j));
    const auto k = static_cast<size_t>(j);
    const T top = at(j, j);
    const R size = std::hypot(std::abs(top), length);
    cosine[k] = size == 0 ? R(1) : std::abs(top) / size;
    const T phase = std::abs(top) == 0 ? T(1) : top / std::abs(top);
    sine[k] = size == 0 ? T(0) : phase * T(length / size);
    at(j, j) = size == 0 ? T(0) : phase * T(size);
    g[k + 1] = 0;
    turn(j, g[k], g[k + 1]);
    largest = std::max(largest, size);
  }
  // Returns true if column j adds nothing to the solution: the matrix is singular on these vectors.
  bool is_singular(int j) { return std::abs(at(j, j)) <= rounding * largest; }
  void turn(int i, T& above, T& below) const {
    const auto k = static_cast<size_t>(i);
    const T first = cosine[k] * above + sine[k] * below;
    below = -conjugated(sine[k], true) * above + cosine[k] * below;
    above = first;
  }

  // x += M (V y), where y solves the triangle of `columns`.
  Status improve(int columns) {
    std::vector<T> y(g.begin(), g.begin() + columns);
    for (int i = columns; i-- > 0;) {
      const auto k = static_cast<size_t>(i);
      for (int j = i + 1; j < columns; ++j) y[k] -= at(i, j) * y[j];
      y[k] /= at(i, i);
    }
    if (columns == 0) return {};
    T* const sum = v[columns];  // no longer needed
    c.vectors().scal(T(0), sum);
    std::vector<const T*> of_y;
    for (int i = 0; i < columns; ++i) of_y.push_back(v[i]);
    c.vectors().combine(y.data(), of_y, sum);
    HIROBA_TRY(c.precondition(sum, prepared()));
    c.vectors().axpy(T(1), prepared(), c.x);
    return {};
  }
};

}  // namespace

// Checks that a rank's vectors fit into its machine: a restart that is too large is a mistake, and the allocation would
// end the process without a message.
template <typename T>
Status check_memory(int64_t n, int restart) {
  constexpr double gib = 1 << 30;
  const double vectors = restart + 2.0, needed = vectors * (static_cast<double>(n) + vectors) * sizeof(T) / gib;
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / gib;
  if (needed <= there) return {};
  return Status::error(
      "GMRES with %d vectors of %ld elements on this rank needs %.1f GiB, and its machine has %.1f; take a smaller "
      "restart",
      restart, n, needed, there);
}

// One cycle is one set of vectors; solve() begins the next one.
template <typename T>
Status gmres(Cycle<T>& c) {
  using R = Real<T>;
  const auto restart =
      static_cast<int>(std::min({static_cast<int64_t>(c.settings.restart), c.settings.most, c.a.rows().count()}));
  HIROBA_TRY(check_memory<T>(c.n, restart));
  Arnoldi<T> arnoldi(c, restart);
  c.vectors().copy(c.r, arnoldi.v[0]);
  c.vectors().scal(T(static_cast<R>(1 / c.residual)), arnoldi.v[0]);
  arnoldi.g[0] = T(static_cast<R>(c.residual));
  c.end = Cycle<T>::End::over;
  bool singular = false;
  int columns = 0;
  for (bool ended = false; !ended && !singular && columns < arnoldi.most;) {
    R length = 0;
    HIROBA_TRY(arnoldi.extend(columns, length));
    arnoldi.rotate(columns, length);
    singular = arnoldi.is_singular(columns);
    if (!singular) ++columns;
    HIROBA_TRY(c.after_iteration(std::abs(arnoldi.g[columns]), ended));
    ended = ended || length == 0;
  }
  HIROBA_TRY(arnoldi.improve(columns));
  if (singular)
    return c.broken("the Krylov space has ended without the solution: the matrix, or the preconditioner, is singular");
  return {};
}

#define HIROBA_INSTANTIATE(T) template Status gmres<T>(Cycle<T>&);
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
