// Conjugate gradients (Hestenes, Stiefel 1952), and the form with one reduction per iteration, which runs during the
// product (Ghysels, Vanroose, Hiding global synchronization latency in the preconditioned conjugate gradient algorithm,
// 2014).
#include "krylov/cycle.hpp"

namespace hiroba {

namespace {

const char* const not_definite =
    "p A p is %.3g for a search direction p: the matrix is not Hermitian positive definite; take MINRES if it is "
    "Hermitian, else GMRES or BiCGSTAB";
const char* const bad_preconditioner =
    "r M r is %.3g: the preconditioner M is not Hermitian positive definite, which this method needs; take another "
    "one, or GMRES";

// One iteration's vectors. z = M r is not stored if M is a diagonal matrix: it is computed at each use.
template <typename T>
struct Conjugate {
  Cycle<T>& c;
  const T* d;  // M's diagonal, or null
  T *p, *q, *z;

  // x += step p, r -= step q; then |r|^2 and r M r, over all ranks.
  using Sums = Numbers<T, 2>;
  Status advance(T step, Sums& sums) {
    const auto pass = [&](int64_t i, int64_t count) {
      hiroba::axpy(count, step, p + i, c.x + i);
      hiroba::axpy(count, -step, q + i, c.r + i);
      Sums out = {{strip_dot(count, c.r + i, c.r + i)}};
      if (d == nullptr) return out;
      T some[strip<T>];
      sparse_kernels<T>().multiply(count, d + i, c.r + i, some);
      out.value[1] = strip_dot(count, c.r + i, some);
      return out;
    };
    sums = sum_strips<Sums, T>(c.n, 4 * sizeof(T), pass);
    if (d == nullptr) HIROBA_TRY(apply_m(sums));
    return c.vectors().add(sums.value, 2);
  }
  Status apply_m(Sums& sums) {
    if (c.m != nullptr) HIROBA_TRY(c.m->apply(c.ranks, c.r, z));
    sums.value[1] = c.m == nullptr ? sums.value[0] : own_dot(c.n, c.r, z);
    return {};
  }
  // p = M r + beta p
  void turn(T beta) {
    in_strips<T>(c.n, 4 * sizeof(T), [&](int64_t i, int64_t count) {
      T some[strip<T>];
      const T* from = (c.m == nullptr ? c.r : z) + i;
      if (d != nullptr) sparse_kernels<T>().multiply(count, d + i, c.r + i, some), from = some;
      if (beta == T(0)) std::copy_n(from, count, p + i);
      else hiroba::scal(count, beta, p + i), hiroba::axpy(count, T(1), from, p + i);
    });
  }
};

}  // namespace

template <typename T>
Status cg(Cycle<T>& c) {
  const T* const d = c.m == nullptr ? nullptr : c.m->diagonal();
  const bool stores_z = c.m != nullptr && d == nullptr;
  Workspace<T> work(c.n, stores_z ? 3 : 2);
  Conjugate<T> now = {c, d, work[0], work[1], stores_z ? work[2] : nullptr};
  typename Conjugate<T>::Sums sums;
  HIROBA_TRY(now.advance(T(0), sums));
  for (T beta = 0;;) {
    if (!is_positive(sums.value[1]))
      return c.broken(format(bad_preconditioner, static_cast<double>(real_of(sums.value[1]))));
    now.turn(beta);
    HIROBA_TRY(c.product(now.p, now.q));
    T pq;
    HIROBA_TRY(c.vectors().dot(now.p, now.q, pq));
    if (!is_positive(pq)) return c.broken(format(not_definite, static_cast<double>(real_of(pq))));
    const T before = sums.value[1];
    HIROBA_TRY(now.advance(T(real_of(before) / real_of(pq)), sums));
    bool ends = false;
    HIROBA_TRY(c.after_iteration(std::sqrt(static_cast<double>(real_of(sums.value[0]))), ends));
    if (ends) return {};
    beta = T(real_of(sums.value[1]) / real_of(before));
  }
}

namespace {

template <typename T>
struct Pipeline {
  T *u, *w, *p, *s, *q, *z, *m, *n;

  explicit Pipeline(const Workspace<T>& work)
      : u(work[0]), w(work[1]), p(work[2]), s(work[3]), q(work[4]), z(work[5]), m(work[6]), n(work[7]) {}

  // Computes all of them from x and p by their definitions, so that rounding errors of the recurrences do not grow
  // further.
  Status replace(Cycle<T>& c) const {
    HIROBA_TRY(c.find_residual());
    HIROBA_TRY(c.precondition(c.r, u));
    HIROBA_TRY(c.product(u, w));
    HIROBA_TRY(c.product(p, s));
    HIROBA_TRY(c.precondition(s, q));
    return c.product(q, z);
  }
  // Computes the search directions, then x, r and what follows from them; in the same pass the sums of the next
  // iteration: r u, w u, r r.
  using Sums = Numbers<T, 3>;
  Sums pass(Cycle<T>& c, T alpha, T beta, bool moves) const {
    return sum_strips<Sums, T>(c.n, 10 * sizeof(T), [&](int64_t i, int64_t count) {
      const auto turn = [&](const T* from, T* to) {
        hiroba::scal(count, beta, to + i), hiroba::axpy(count, T(1), from + i, to + i);
      };
      if (moves) {
        turn(n, z), turn(m, q), turn(w, s), turn(u, p);
        hiroba::axpy(count, alpha, p + i, c.x + i), hiroba::axpy(count, -alpha, s + i, c.r + i);
        hiroba::axpy(count, -alpha, q + i, u + i), hiroba::axpy(count, -alpha, z + i, w + i);
      }
      return Sums{
          {strip_dot(count, c.r + i, u + i), strip_dot(count, w + i, u + i), strip_dot(count, c.r + i, c.r + i)}};
    });
  }
};

}  // namespace

// Every N iterations, or when the residual has fallen by a factor, its recurrence is replaced by the definition,
// earlier the next time if the two differed much (Cools, Vanroose et al., Analyzing the effect of local rounding error
// propagation on the maximal attainable accuracy of the pipelined conjugate gradient method, 2018). After the first
// iteration, sums that no definite matrix gives are rounding errors, too.
template <typename T>
Status pipelined_cg(Cycle<T>& c) {
  using R = Real<T>;
  constexpr int least_iterations = 20, most_iterations = 100;
  constexpr double most_decrease = 1e-3, most_off = 1e-2;
  const Workspace<T> work(c.n, 8);
  const Pipeline<T> v(work);
  HIROBA_TRY(c.precondition(c.r, v.u));
  HIROBA_TRY(c.product(v.u, v.w));
  typename Pipeline<T>::Sums sums = v.pass(c, T(0), T(0), false);
  StartedSum<R> started;
  R alpha = 0, before = 0;
  double replaced_at = c.residual;
  int since = 0, interval = most_iterations;
  for (bool first = true;; first = false) {
    const R mine[] = {real_of(sums.value[0]), real_of(sums.value[1]), real_of(sums.value[2])};
    HIROBA_TRY(started.start(c.ranks, mine, "sums of pipelined CG"));
    HIROBA_TRY(c.precondition(v.w, v.m));
    HIROBA_TRY(c.product(v.m, v.n));
    std::span<R> all;
    HIROBA_TRY(started.wait(c.ranks, all));
    bool ends = false;
    if (!first) HIROBA_TRY(c.after_iteration(std::sqrt(static_cast<double>(all[2])), ends));
    if (ends) return {};
    if (since == 0 && !first) {
      const bool far = std::abs(c.residual - replaced_at) > most_off * replaced_at;
      interval = far ? std::max(interval / 2, least_iterations) : std::min(2 * interval, most_iterations);
      replaced_at = c.residual;
    }
    const R beta = first ? 0 : all[0] / before, below = first ? all[1] : all[1] - beta * all[0] / alpha;
    if (!is_positive(all[0]) || !is_positive(below)) {
      const bool of_m = !is_positive(all[0]);
      HIROBA_TRY(
          c.broken(format(of_m ? bad_preconditioner : not_definite, static_cast<double>(of_m ? all[0] : below))));
      if (!first) c.end = Cycle<T>::End::drifted;
      return {};
    }
    alpha = all[0] / below, before = all[0];
    sums = v.pass(c, T(alpha), T(beta), true);
    if (++since < interval && c.residual > most_decrease * replaced_at) continue;
    HIROBA_TRY(v.replace(c));
    sums = v.pass(c, T(0), T(0), false);
    replaced_at = c.residual, since = 0;
  }
}

#define HIROBA_INSTANTIATE(T)       \
  template Status cg<T>(Cycle<T>&); \
  template Status pipelined_cg<T>(Cycle<T>&);
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
