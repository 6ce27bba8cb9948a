// Common to the entry points of sparse.h: handles of operators, and the dispatch of a call by the type of its numbers.
#pragma once

#include <complex>
#include <memory>

#define HIROBA_NO_PLACES
#include "krylov/krylov.hpp"
#include "notation/collective/collective_process.hpp"
#include "sparse.h"
#include "sparse/sparse.hpp"

// hiroba_linop points to one. A freed one stays, without `any`, so that a later use of it is found.
struct hiroba_linop_part {
  hiroba_type type;
  std::unique_ptr<hiroba::AnyOperator> any;
  bool is_matrix = false;
  hiroba_linop_facts facts = {};      // of a matrix
  int users = 0;                      // other operators that use it
  hiroba_linop_part* used = nullptr;  // by this one
};

namespace hiroba {

// A call of sparse.h.
class SparseCall : public CheckedCall {
 public:
  enum By { all_ranks, one_rank };  // the ranks that make the call; one of all ranks waits for tasks first
  explicit SparseCall(const char* name, By by = all_ranks) : CheckedCall(name) {
    if (by == all_ranks) end_work(name);
  }
  Ranks ranks() const { return {process_memory(name()), call()}; }
  // Returns the operator of a handle; `which` is the argument.
  hiroba_linop_part& part(hiroba_linop a, const char* which) const {
    if (a == HIROBA_NO_LINOP) fail(format("%s is HIROBA_NO_LINOP", which));
    if (a->any == nullptr) fail(format("%s was freed already, by hiroba_linop_free", which));
    return *a;
  }
  template <typename T>
  Operator<T>& operator_of(hiroba_linop_part& part) const {
    return static_cast<Operator<T>&>(*part.any);
  }
  // Returns null if there is none.
  template <typename T>
  Operator<T>* preconditioner_of(hiroba_linop m) const {
    return m == HIROBA_NO_LINOP ? nullptr : &operator_of<T>(*m);
  }
  // Returns this rank's part of a shared vector that is distributed as the rows.
  template <typename T>
  T* vector(const char* which, const AnyOperator& a, const void* data) const {
    SharedVector out;
    const Rows& rows = a.rows();
    require(find_vector(process_memory(name()), which, data, rows.count(), 1, sizeof(T), out));
    if (const Status fits = check_vector(rows, which, out); !fits.ok())
      fail(fits.message() + " (hiroba_linop_vector makes one; hiroba_dcopy and its like copy)");
    return static_cast<T*>(const_cast<void*>(data)) + rows.begin(ranks().me());
  }
  // Calls work.template operator()<T>() for the type of numbers.
  template <typename Work>
  auto with_type(hiroba_type type, const Work& work) const {
    switch (type) {
      case HIROBA_FLOAT: return work.template operator()<float>();
      case HIROBA_DOUBLE: return work.template operator()<double>();
      case HIROBA_FLOAT_COMPLEX: return work.template operator()<std::complex<float>>();
      case HIROBA_DOUBLE_COMPLEX: return work.template operator()<std::complex<double>>();
      default: break;
    }
    fail(format("type %ld; it is HIROBA_FLOAT, HIROBA_DOUBLE, HIROBA_FLOAT_COMPLEX or HIROBA_DOUBLE_COMPLEX", type));
  }
};

// ---- common to solvers of linear systems and of eigenvalues; errors end the job ----
// Returns the method for HIROBA_CG and so on.
Method method_of(const SparseCall& call, int method);
// Returns HIROBA_CONVERGED and so on.
int status_of(Outcome::Why why);
// Checks that the preconditioner, if there is one, fits the operator.
void check_preconditioner(const SparseCall& call, const hiroba_linop_part& a, hiroba_linop m);

}  // namespace hiroba
