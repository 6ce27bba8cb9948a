// One call: cycles of a method, each from the residual of x, until that is small enough or does not fall any more.
#include <bit>
#include <limits>

#include "krylov/cycle.hpp"

namespace hiroba {

const char* name_of(Method method) {
  switch (method) {
    case Method::cg: return "CG";
    case Method::pipelined_cg: return "pipelined CG";
    case Method::bicgstab: return "BiCGSTAB";
    case Method::gmres: return "GMRES";
    case Method::minres: return "MINRES";
  }
  return "";
}

namespace {

using Why = Outcome::Why;

// r = b - A x, and its norm.
template <typename T>
Status residual_of(Cycle<T>& c, double& norm) {
  HIROBA_TRY(c.find_residual());
  Real<T> out = 0;
  HIROBA_TRY(c.vectors().norm(c.r, out));
  norm = out;
  return {};
}

// Ranks with other settings than the rest would wait for operations that no rank begins.
Status check_equal(const Ranks& ranks, const SolverSettings& settings, bool has_preconditioner) {
  const int64_t values[] = {static_cast<int64_t>(settings.method),
                            std::bit_cast<int64_t>(settings.relative),
                            std::bit_cast<int64_t>(settings.absolute),
                            settings.most,
                            settings.restart,
                            settings.progress != nullptr ? 1 : 0,
                            has_preconditioner ? 1 : 0};
  return ranks.agree(values, "settings of the solver");
}

template <typename T>
Status run(Cycle<T>& c) {
  switch (c.settings.method) {
    case Method::cg: return cg(c);
    case Method::pipelined_cg: return pipelined_cg(c);
    case Method::bicgstab: return bicgstab(c);
    case Method::gmres: return gmres(c);
    case Method::minres: return minres(c);
  }
  return {};
}

bool needs_hermitian(Method method) {
  return method == Method::cg || method == Method::pipelined_cg || method == Method::minres;
}

// Tests by two random vectors if a matrix that must be Hermitian is; returns the difference, or nothing. Once for each
// operator that is. Operators may be inexact, and methods tolerate small differences: these are reported if there is no
// convergence; larger ones are `refused`.
template <typename T>
Status find_asymmetry(const Cycle<T>& c, std::string& how, bool& refused) {
  constexpr double rounding = 64 * static_cast<double>(std::numeric_limits<Real<T>>::epsilon());
  constexpr double most = sizeof(Real<T>) == sizeof(double) ? 1e-6 : 2e-5;
  if (!needs_hermitian(c.settings.method) || c.a.known_hermitian) return {};
  const Workspace<T> work(c.n, 3);
  T *const x = work[0], *const y = work[1], *const product = work[2];
  const int64_t first = c.a.rows().begin(c.ranks.me());
  for (int64_t i = 0; i < c.n; ++i) x[i] = random_element<T>(1, first + i), y[i] = random_element<T>(2, first + i);
  T xay, yax;
  Real<T> size_x, size_y, size_ax, size_ay;
  HIROBA_TRY(c.vectors().norm(x, size_x));
  HIROBA_TRY(c.vectors().norm(y, size_y));
  HIROBA_TRY(c.a.apply(c.ranks, x, product));
  HIROBA_TRY(c.vectors().dot(y, product, yax));
  HIROBA_TRY(c.vectors().norm(product, size_ax));
  HIROBA_TRY(c.a.apply(c.ranks, y, product));
  HIROBA_TRY(c.vectors().dot(x, product, xay));
  HIROBA_TRY(c.vectors().norm(product, size_ay));
  const double size = static_cast<double>(size_x) * size_ay + static_cast<double>(size_y) * size_ax;
  const double off = static_cast<double>(std::abs(xay - conjugated(yax, true))) / size;
  refused = off > most;
  if (off > rounding)
    how = format(
        "the matrix is not %s: for random x and y, x* A y and (y* A x)* differ by %.3g of |x| |A y|; take "
        "GMRES or BiCGSTAB",
        is_complex<T> ? "Hermitian" : "symmetric", off);
  else c.a.known_hermitian = std::isfinite(off) || size == 0;
  return {};
}

std::string advice(const Outcome& out, const SolverSettings& settings, const std::string& broke) {
  switch (out.why) {
    case Why::too_many: return "allow more iterations, take a preconditioner (block ILU, Chebyshev), or another method";
    case Why::stagnated:
      return "the last cycle has not halved it: the goal is below what rounding errors allow, or the method does not "
             "suit the matrix; allow a larger residual, or take another method or preconditioner";
    case Why::broke_down: return broke;
    case Why::not_finite:
      return "b, the first x, the matrix or the preconditioner have numbers that are not finite, or overflow";
    case Why::stopped: return "the progress function has stopped it";
    case Why::converged: break;
  }
  return name_of(settings.method);
}

std::string explain(const Outcome& out, const SolverSettings& settings, double size_of_b) {
  return format(
      "%s did not converge: after %ld iterations |b - A x| is %.3g (%.3g of |b|), and %.3g was to be reached; %s",
      name_of(settings.method), out.iterations, out.residual, size_of_b > 0 ? out.residual / size_of_b : out.residual,
      out.goal, out.text.c_str());
}

// Returns true if the cycle that ended so, with this residual of x, is the last one.
template <typename T>
bool is_last(const Cycle<T>& c, double before, double after, bool limited) {
  Outcome& out = c.out;
  if (!std::isfinite(after)) out.why = Why::not_finite;
  else if (after <= out.goal) out.why = Why::converged;
  else if (out.why == Why::stopped) return true;
  else if (c.end == Cycle<T>::End::broke_down) out.why = Why::broke_down;
  else if (out.iterations >= c.settings.most) out.why = Why::too_many;
  else if (c.end == Cycle<T>::End::drifted && after > before / 2)
    // A residual that has fallen this far shows that the matrix suits the method.
    out.why =
        after < std::sqrt(std::numeric_limits<Real<T>>::epsilon()) * out.history[0] ? Why::stagnated : Why::broke_down;
  else if (limited && after > before / 2) out.why = Why::stagnated;
  else return false;
  return true;
}

// Solves without extreme numbers. `text` of the outcome is only the advice.
template <typename T>
Status solve_in_range(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const T* b, double size_of_b,
                      T* x, const SolverSettings& settings, Outcome& out) {
  const int64_t n = a.rows().of(ranks.me());
  const Workspace<T> work(n, 1);
  Cycle<T> c = {ranks, a, preconditioner, settings, n, b, x, work[0], 0, out};
  out.goal = std::max(settings.relative * size_of_b, settings.absolute);
  if (size_of_b == 0) c.vectors().scal(T(0), x);
  HIROBA_TRY(residual_of(c, c.residual));
  out.residual = c.residual;
  out.history.push_back(c.residual);
  // GMRES always restarts; a cycle of the others ends when its own residual has reached the goal.
  const bool restarts = settings.method == Method::gmres;
  std::string asymmetry;
  bool refused = false;
  if (c.residual > out.goal && std::isfinite(c.residual)) HIROBA_TRY(find_asymmetry(c, asymmetry, refused));
  if (refused) {
    out.why = Why::broke_down, out.text = asymmetry;
    return {};
  }
  while (!is_last(c, 2 * c.residual, out.residual, false)) {
    const double before = out.residual;
    HIROBA_TRY(run(c));
    HIROBA_TRY(residual_of(c, out.residual));
    if (is_last(c, before, out.residual, !restarts || c.end == Cycle<T>::End::reached)) break;
    c.residual = out.residual;
  }
  if (out.converged()) return {};
  out.text = advice(out, settings, c.why);
  if (!asymmetry.empty()) out.text += "; besides, " + asymmetry;
  return {};
}

struct ScaledProgress {
  const SolverSettings& settings;
  int exponent;
  static bool call(int64_t iteration, double residual, void* context) {
    const auto* const to = static_cast<const ScaledProgress*>(context);
    return to->settings.progress(iteration, std::ldexp(residual, to->exponent), to->settings.context);
  }
};

// (A / 2^of_a) (x 2^(of_a - of_b)) = b / 2^of_b
template <typename T>
Status solve_scaled(const Ranks& ranks, Operator<T>& a, int of_a, Operator<T>* preconditioner, const T* b, int of_b,
                    double size_of_b, T* x, const SolverSettings& settings, Outcome& out) {
  const int64_t n = a.rows().of(ranks.me());
  ScaledOperator<T> scaled(a, of_a);
  std::optional<ScaledOperator<T>> m;
  HIROBA_TRY(scale(ranks, preconditioner, m));
  const Workspace<T> work(n, 1);
  const Vectors<T> vectors = {ranks, n};
  vectors.copy(b, work[0]);
  scale_by_power(n, -of_b, work[0]), scale_by_power(n, of_a - of_b, x);
  SolverSettings inner = settings;
  ScaledProgress progress = {settings, of_b};
  inner.absolute = std::ldexp(settings.absolute, -of_b);
  if (settings.progress != nullptr) inner.progress = ScaledProgress::call, inner.context = &progress;
  HIROBA_TRY(solve_in_range<T>(ranks, scaled, m ? &*m : nullptr, work[0], std::ldexp(size_of_b, -of_b), x, inner, out));
  a.known_hermitian = scaled.known_hermitian;
  scale_by_power(n, of_b - of_a, x);
  for (double& residual : out.history) residual = std::ldexp(residual, of_b);
  out.residual = std::ldexp(out.residual, of_b), out.goal = std::ldexp(out.goal, of_b);
  if (!out.converged()) return {};
  // The solution itself may be out of range.
  HIROBA_TRY(a.apply(ranks, x, work[0]));
  vectors.xpby(b, T(-1), work[0]);
  Real<T> residual = 0;
  HIROBA_TRY(vectors.norm(work[0], residual));
  if (residual <= 1.01 * out.goal) return {};
  out.residual = residual, out.why = Why::not_finite;
  out.text = "the solution is too large or too small for numbers of its type; scale A and b";
  return {};
}

}  // namespace

template <typename T>
Status solve(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const T* b, T* x,
             const SolverSettings& settings, Outcome& out) {
  HIROBA_TRY(check_equal(ranks, settings, preconditioner != nullptr));
  out = {};
  int of_a = 0;
  HIROBA_TRY(find_exponent(ranks, a, of_a));
  Real<T> size_of_b = 0;
  HIROBA_TRY((Vectors<T>{ranks, a.rows().of(ranks.me())}.norm(b, size_of_b)));
  const int of_b = extreme_exponent<T>(size_of_b);
  if (of_a == 0 && of_b == 0) HIROBA_TRY(solve_in_range(ranks, a, preconditioner, b, size_of_b, x, settings, out));
  else HIROBA_TRY(solve_scaled(ranks, a, of_a, preconditioner, b, of_b, size_of_b, x, settings, out));
  if (!out.converged()) out.text = explain(out, settings, size_of_b);
  return {};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T) \
  template Status solve<T>(const Ranks&, Operator<T>&, Operator<T>*, const T*, T*, const SolverSettings&, Outcome&);
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
