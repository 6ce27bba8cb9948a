// Common settings of solvers of linear systems and of eigenvalues. Errors end the job.
#pragma once

#include "krylov/krylov.hpp"
#include "notation/sparse/sparse_process.hpp"

namespace hiroba {

// Returns the method for HIROBA_CG and so on.
Method method_of(const SparseCall& call, int method);
// Returns HIROBA_CONVERGED and so on.
int status_of(Outcome::Why why);
// Checks that the preconditioner, if there is one, fits the operator.
void check_preconditioner(const SparseCall& call, const hiroba_linop_part& a, hiroba_linop m);

}  // namespace hiroba
