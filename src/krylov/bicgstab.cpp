// BiCGSTAB with a preconditioner from the right (van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of
// Bi-CG, 1992). An iteration has two products.
#include "krylov/cycle.hpp"

namespace hiroba {

template <typename T>
Status bicgstab(Cycle<T> &c) {
  const Workspace<T> work(c.n, 6);
  T *const shadow = work[0], *const p = work[1], *const v = work[2], *const t = work[3], *const mp = work[4],
           *const ms = work[5];
  const Vectors<T> vectors = c.vectors();
  T *const s = c.r;  // r - alpha v is stored in r
  vectors.copy(c.r, shadow);
  vectors.copy(c.r, p);
  T rho;
  HIROBA_TRY(vectors.dot(shadow, c.r, rho));
  for (;;) {
    HIROBA_TRY(c.precondition(p, mp));
    HIROBA_TRY(c.product(mp, v));
    T along;
    HIROBA_TRY(vectors.dot(shadow, v, along));
    if (along == T(0) || rho == T(0))
      return c.broken("a product of BiCGSTAB's two residuals is 0; begin with another x, or take GMRES");
    const T alpha = rho / along;
    vectors.axpy(-alpha, v, s);
    vectors.axpy(alpha, mp, c.x);
    HIROBA_TRY(c.precondition(s, ms));
    HIROBA_TRY(c.product(ms, t));
    const T *const with[] = {t, s};
    T of_t[2];
    HIROBA_TRY(vectors.dots(with, t, of_t));  // t t, s t
    const T omega = of_t[0] == T(0) ? T(0) : conjugated(of_t[1], true) / of_t[0];
    vectors.axpy(omega, ms, c.x);
    vectors.axpy(-omega, t, s);
    const T *const next[] = {shadow, c.r};
    T of_r[2];
    HIROBA_TRY(vectors.dots(next, c.r, of_r));
    bool ends = false;
    HIROBA_TRY(c.after_iteration(std::sqrt(static_cast<double>(real_of(of_r[1]))), ends));
    if (ends) return {};
    if (omega == T(0)) return c.broken("a step of BiCGSTAB is 0; take GMRES");
    const T beta = of_r[0] / rho * (alpha / omega);
    rho = of_r[0];
    vectors.axpy(-omega, v, p);
    vectors.xpby(c.r, beta, p);
  }
}

#define HIROBA_INSTANTIATE(T) template Status bicgstab<T>(Cycle<T> &);
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
