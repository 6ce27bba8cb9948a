// MINRES with a Hermitian positive definite preconditioner (Paige, Saunders, Solution of sparse indefinite systems of
// linear equations, 1975). The method's own norm is that of the preconditioner; the residual itself is updated, too, so
// that the Euclidean norm can be compared.
#include <utility>

#include "krylov/cycle.hpp"

namespace hiroba {

namespace {

// The Lanczos vectors, and the rotation that makes the tridiagonal matrix triangular.
template <typename T>
struct Lanczos {
  using R = Real<T>;

  Cycle<T>& c;
  T *before, *now, *y, *v;
  R beta_before = 0, beta = 0, alpha = 0;

  Status norm(R& out, bool& good) {
    T product;
    HIROBA_TRY(c.vectors().dot(now, y, product));
    good = real_of(product) >= 0 && std::isfinite(real_of(product));
    out = good ? std::sqrt(real_of(product)) : real_of(product);
    return {};
  }
  // Advances from vector k to k + 1; `good`: the preconditioner is positive definite.
  Status step(bool first, bool& good) {
    const Vectors<T> vectors = c.vectors();
    in_strips<T>(c.n, 2 * sizeof(T), [&](int64_t i, int64_t count) {
      std::copy_n(y + i, count, v + i);
      hiroba::scal(count, T(1 / beta), v + i);
    });
    HIROBA_TRY(c.product(v, y));
    if (!first) vectors.axpy(T(-beta / beta_before), before, y);
    T along;
    HIROBA_TRY(vectors.dot(v, y, along));
    alpha = real_of(along);
    vectors.axpy(T(-alpha / beta), now, y);
    std::swap(before, now);
    vectors.copy(y, now);
    HIROBA_TRY(c.precondition(now, y));
    beta_before = beta;
    return norm(beta, good);
  }
};

}  // namespace

template <typename T>
Status minres(Cycle<T>& c) {
  using R = Real<T>;
  const Workspace<T> work(c.n, 7);
  const Vectors<T> vectors = c.vectors();
  Lanczos<T> lanczos = {c, work[0], work[1], work[2], work[3]};
  T *w = work[4], *w1 = work[5], *w2 = work[6];
  bool good = false;
  const auto not_definite = [&] {
    return c.broken(
        format("r M r is %.3g: the preconditioner M is not Hermitian positive definite, which MINRES needs; "
               "take another one, or GMRES",
               static_cast<double>(lanczos.beta)));
  };
  vectors.copy(c.r, lanczos.now);
  HIROBA_TRY(c.precondition(lanczos.now, lanczos.y));
  HIROBA_TRY(lanczos.norm(lanczos.beta, good));
  if (!good || lanczos.beta == 0) return not_definite();
  R phi_bar = lanczos.beta, cosine = -1, sine = 0, d_bar = 0, epsilon = 0;
  for (bool first = true;; first = false) {
    HIROBA_TRY(lanczos.step(first, good));
    if (!good) return not_definite();
    const R beta = lanczos.beta, epsilon_before = epsilon, delta = cosine * d_bar + sine * lanczos.alpha;
    const R g_bar = sine * d_bar - cosine * lanczos.alpha, gamma = std::hypot(g_bar, beta);
    epsilon = sine * beta, d_bar = -cosine * beta;
    if (gamma == 0)
      return c.broken(
          "the Krylov space has ended without the solution: the matrix is singular, and b has a part that it "
          "cannot make");
    cosine = g_bar / gamma, sine = beta / gamma;
    const R phi = cosine * phi_bar;
    phi_bar *= sine;
    std::swap(w1, w2), std::swap(w2, w);  // w: the oldest
    in_strips<T>(c.n, 7 * sizeof(T), [&](int64_t i, int64_t count) {
      std::copy_n(lanczos.v + i, count, w + i);
      hiroba::axpy(count, T(-epsilon_before), w1 + i, w + i), hiroba::axpy(count, T(-delta), w2 + i, w + i);
      hiroba::scal(count, T(1 / gamma), w + i);
      hiroba::axpy(count, T(phi), w + i, c.x + i);
      hiroba::scal(count, T(sine * sine), c.r + i);
      if (beta > 0) hiroba::axpy(count, T(-phi_bar * cosine / beta), lanczos.now + i, c.r + i);
    });
    R norm = phi_bar;  // the residual's norm, without a preconditioner
    if (c.m != nullptr) HIROBA_TRY(vectors.norm(c.r, norm));
    bool ends = false;
    HIROBA_TRY(c.after_iteration(norm, ends));
    if (ends) return {};
    if (beta == 0) return c.broken("the Krylov space has ended without the solution: the matrix is singular");
  }
}

#define HIROBA_INSTANTIATE(T) template Status minres<T>(Cycle<T>&);
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
