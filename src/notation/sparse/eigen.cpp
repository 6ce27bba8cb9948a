// The entry point of eigen.h.
#include "eigen/eigen.hpp"

#include <algorithm>
#include <cmath>

#include "notation/sparse/sparse_process.hpp"
// Must follow the header above, which defines that entry points are no macros.
#include "eigen.h"

namespace hiroba {

namespace {

// Calls the program's progress function, whose result is an int.
bool progress(const EigenProgress& now, void* self) {
  const hiroba_eigen& how = *static_cast<const hiroba_eigen*>(self);
  const double value[2] = {now.value.real(), now.value.imag()};
  return how.progress(now.steps, now.products, now.found, value, now.residual, how.context) != 0;
}

SolverSettings correction_of(const SparseCall& call, const hiroba_solver& how) {
  SolverSettings out;
  out.method = method_of(call, how.method);
  if (!(how.relative >= 0) || how.most < 0 || how.restart < 0)
    call.fail(format("the correction has relative %g, most %ld and restart %d; none may be negative", how.relative,
                     how.most, how.restart));
  out.relative = how.relative > 0 ? how.relative : 0.1;
  out.most = how.most > 0 ? how.most : 20;
  if (how.restart > 0) out.restart = how.restart;
  return out;
}

void check(const SparseCall& call, const hiroba_eigen& how) {
  if (how.count < 0 || how.most < 0 || how.space < 0 || how.restart < 0)
    call.fail(format("count is %d, most %ld, space %d and restart %d; none may be negative", how.count, how.most,
                     how.space, how.restart));
  if (!(how.absolute >= 0) || !(how.relative >= 0))
    call.fail(format("absolute is %g and relative %g; neither may be negative", how.absolute, how.relative));
  if (how.part < HIROBA_SMALLEST || how.part > HIROBA_LARGEST_MAGNITUDE)
    call.fail(format("part is %d; it is HIROBA_SMALLEST, HIROBA_LARGEST, HIROBA_CLOSEST or HIROBA_LARGEST_MAGNITUDE",
                     how.part));
  if (!std::isfinite(how.target[0]) || !std::isfinite(how.target[1])) call.fail("the target is not finite");
  if (how.general == 0 && how.target[1] != 0)
    call.fail(
        format("the target has the imaginary part %g; eigenvalues of Hermitian operators are real", how.target[1]));
  if (how.harmonic != 0 && how.part != HIROBA_CLOSEST)
    call.fail("harmonic Ritz vectors are for HIROBA_CLOSEST; the ends of the spectrum need none");
  const int space = how.space > 0 ? how.space : 30, kept = how.restart > 0 ? how.restart : 12;
  if (space < 3 || kept > space - 2)
    call.fail(
        format("space is %d and restart %d; a search space has at least 3 vectors, and a restart keeps at "
               "most all but 2",
               space, kept));
}

EigenSettings settings_of(const SparseCall& call, const hiroba_eigen& how, hiroba_type type) {
  check(call, how);
  const bool single = type == HIROBA_FLOAT || type == HIROBA_FLOAT_COMPLEX;
  EigenSettings out;
  out.count = std::max(how.count, 1);
  out.part = static_cast<Part>(how.part);
  out.target = {how.target[0], how.target[1]};
  out.general = how.general != 0, out.harmonic = how.harmonic != 0;
  out.absolute = how.absolute;
  out.relative = how.absolute == 0 && how.relative == 0 ? (single ? 1e-5 : 1e-12) : how.relative;
  if (how.most > 0) out.most = how.most;
  if (how.space > 0) out.space = how.space;
  if (how.restart > 0) out.kept = how.restart;
  out.seed = how.seed;
  if (how.correction != nullptr) out.correction = correction_of(call, *how.correction);
  if (how.progress != nullptr) out.progress = progress, out.context = const_cast<hiroba_eigen*>(&how);
  return out;
}

template <typename T>
hiroba_eigen_result results(const SparseCall& call, hiroba_linop_part& part, const EigenOutcome<T>& found, bool general,
                            double values[], double residuals[], void* const vectors[]) {
  const size_t count = found.values.size();
  for (size_t i = 0; i < count; ++i) {
    if (general) values[2 * i] = found.values[i].real(), values[2 * i + 1] = found.values[i].imag();
    else values[i] = found.values[i].real();
    if (residuals != nullptr) residuals[i] = found.residuals[i];
    if (vectors == nullptr) continue;
    const std::string name = format("vectors[%zu]", i);
    T* const to = call.vector<T>(name.c_str(), *part.any, vectors[i]);
    std::copy_n((*found.vectors)[static_cast<int>(i)], part.any->rows().of(call.ranks().me()), to);
  }
  return {status_of(found.why), static_cast<int>(count), found.steps, found.products, found.goal};
}

}  // namespace

HIROBA_EXPORT hiroba_eigen_result hiroba_eigenpairs(hiroba_linop a, const hiroba_eigen* how, double values[],
                                                    double residuals[], void* const vectors[]) {
  const SparseCall call("hiroba_eigenpairs");
  hiroba_linop_part& part = call.part(a, "the operator");
  if (how == nullptr) call.fail("how is NULL; it says which eigenvalues and when to stop");
  if (values == nullptr) call.fail("values is NULL; it needs room for the eigenvalues");
  const EigenSettings settings = settings_of(call, *how, part.type);
  check_preconditioner(call, part, how->preconditioner);
  return call.with_type(part.type, [&]<typename T>() {
    Operator<T>* const m = call.preconditioner_of<T>(how->preconditioner);
    EigenOutcome<T> found;
    call.require(find_eigenpairs(call.ranks(), call.operator_of<T>(part), m, settings, found));
    if (!found.converged() && how->may_fail == 0) call.fail(found.text);
    return results(call, part, found, settings.general, values, residuals, vectors);
  });
}

}  // namespace hiroba
