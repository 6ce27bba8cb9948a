// The entry points of sparse.h that make preconditioners and solve.
#include <algorithm>

#include "notation/sparse/sparse_process.hpp"

namespace hiroba {

Method method_of(const SparseCall& call, int method) {
  switch (method) {
    case HIROBA_CG: return Method::cg;
    case HIROBA_PIPELINED_CG: return Method::pipelined_cg;
    case HIROBA_BICGSTAB: return Method::bicgstab;
    case HIROBA_GMRES: return Method::gmres;
    case HIROBA_MINRES: return Method::minres;
    default: break;
  }
  call.fail(format("method is %d; it is HIROBA_CG, HIROBA_PIPELINED_CG, HIROBA_BICGSTAB, HIROBA_GMRES or HIROBA_MINRES",
                   method));
}

int status_of(Outcome::Why why) {
  switch (why) {
    case Outcome::Why::converged: return HIROBA_CONVERGED;
    case Outcome::Why::too_many: return HIROBA_TOO_MANY;
    case Outcome::Why::stopped: return HIROBA_STOPPED;
    case Outcome::Why::broke_down: return HIROBA_BROKE_DOWN;
    case Outcome::Why::stagnated: return HIROBA_STAGNATED;
    case Outcome::Why::not_finite: return HIROBA_NOT_FINITE;
  }
  return HIROBA_NOT_FINITE;
}

void check_preconditioner(const SparseCall& call, const hiroba_linop_part& a, hiroba_linop m) {
  if (m == HIROBA_NO_LINOP) return;
  if (call.part(m, "the preconditioner").type != a.type)
    call.fail("the preconditioner has another type of numbers than the operator");
  if (!(m->any->rows() == a.any->rows()))
    call.fail(
        format("the rows of the preconditioner (%ld) are divided otherwise than those of the operator (%ld); make it "
               "from the matrix, or `like` it",
               m->any->rows().count(), a.any->rows().count()));
}

namespace {

// Calls make(matrix, out) for the type of the matrix's numbers.
template <typename Make>
hiroba_linop precondition(const SparseCall& call, hiroba_linop matrix, const Make& make) {
  hiroba_linop_part& part = call.part(matrix, "the matrix");
  if (!part.is_matrix) call.fail("a preconditioner is made from a matrix, and this operator is none");
  return call.with_type(part.type, [&]<typename T>() {
    std::unique_ptr<Operator<T>> out;
    call.require(make(static_cast<SparseMatrix<T>&>(*part.any), out));
    return new hiroba_linop_part{part.type, std::move(out)};
  });
}

// Calls the program's progress function, whose result is an int.
struct Progress {
  const hiroba_solver& how;
  static bool call(int64_t iteration, double residual, void* self) {
    const hiroba_solver& how = static_cast<Progress*>(self)->how;
    return how.progress(iteration, residual, how.context) != 0;
  }
};

SolverSettings settings_of(const SparseCall& call, const hiroba_solver& how, hiroba_type type, Progress& progress) {
  SolverSettings out;
  out.method = method_of(call, how.method);
  if (!(how.relative >= 0) || !(how.absolute >= 0))
    call.fail(format("relative is %g and absolute %g; neither may be negative", how.relative, how.absolute));
  if (how.most < 0 || how.restart < 0 || how.room < 0)
    call.fail(format("most is %ld, restart %d and room %ld; none may be negative", how.most, how.restart, how.room));
  if (how.room > 0 && how.history == nullptr) call.fail("history is NULL, and room is not 0");
  const bool single = type == HIROBA_FLOAT || type == HIROBA_FLOAT_COMPLEX;
  out.relative = how.relative == 0 && how.absolute == 0 ? (single ? 1e-5 : 1e-8) : how.relative;
  out.absolute = how.absolute;
  if (how.most > 0) out.most = how.most;
  if (how.restart > 0) out.restart = how.restart;
  if (how.progress != nullptr) out.progress = Progress::call, out.context = &progress;
  return out;
}

}  // namespace

HIROBA_EXPORT hiroba_linop hiroba_linop_jacobi(hiroba_linop matrix) {
  const SparseCall call("hiroba_linop_jacobi");
  return precondition(call, matrix, [&](auto& a, auto& out) { return make_jacobi(call.ranks(), a, out); });
}

HIROBA_EXPORT hiroba_linop hiroba_linop_ilu(hiroba_linop matrix, double relax) {
  const SparseCall call("hiroba_linop_ilu");
  return precondition(call, matrix, [&](auto& a, auto& out) { return make_block_ilu(call.ranks(), a, relax, out); });
}

HIROBA_EXPORT hiroba_linop hiroba_linop_chebyshev(hiroba_linop matrix, int degree, double low, double high) {
  const SparseCall call("hiroba_linop_chebyshev");
  hiroba_linop const out = precondition(call, matrix, [&](auto& a, auto& made) {
    return make_chebyshev(call.ranks(), a, degree, low, high, made);
  });
  out->used = matrix, ++matrix->users;
  return out;
}

HIROBA_EXPORT hiroba_solution hiroba_solve(hiroba_linop a, const void* b, void* x, const hiroba_solver* how) {
  const SparseCall call("hiroba_solve");
  hiroba_linop_part& part = call.part(a, "the operator");
  if (how == nullptr) call.fail("how is NULL; it says the method and when to stop");
  check_preconditioner(call, part, how->preconditioner);
  Outcome outcome;
  call.with_type(part.type, [&]<typename T>() {
    Progress progress = {*how};
    const SolverSettings settings = settings_of(call, *how, part.type, progress);
    const T* const right = call.vector<T>("b", *part.any, b);
    T* const solution = call.vector<T>("x", *part.any, x);
    if (right == solution) call.fail("b and x are the same vector; the solution needs its own");
    Operator<T>* const m = call.preconditioner_of<T>(how->preconditioner);
    call.require(solve(call.ranks(), call.operator_of<T>(part), m, right, solution, settings, outcome));
  });
  if (!outcome.converged() && how->may_fail == 0) call.fail(outcome.text);
  const auto kept = std::min<size_t>(outcome.history.size(), static_cast<size_t>(how->room));
  std::copy_n(outcome.history.begin(), kept, how->history);
  return {status_of(outcome.why), outcome.iterations, outcome.products, outcome.residual, outcome.goal};
}

}  // namespace hiroba
