// The contract of this floor: linear algebra on vectors and matrices in shared arrays, by all ranks together.
//
// A Linear object is one rank's part; the process owns it. Each rank computes the elements that it owns of the result
// (level 1, ger), or takes part with its elements of the matrix (gemv). It reads others' elements directly, or fetches
// them. README.md beside this file has the division of the work, the order of sums, and the barriers before calls.
//
// Collective: all ranks make the same calls in the same order, by one thread each. Level 1 without sums, and ger,
// return without waiting. Sums give Pending, which the caller reduces over all ranks. T is float, double, or complex of
// one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/numbers.hpp"
#include "base/shown.hpp"
#include "linear/local.hpp"
#include "linear/operands.hpp"
#include "memory/memory.hpp"

namespace hiroba {

struct LinearParts;

// The rest of a call: `values` are added over all ranks, unless there are none, and finish(values) computes the result.
template <typename T>
struct Pending {
  using R = Real<T>;
  std::vector<R> values;
  std::function<void(R* values)> finish;
};

// Find operands from the arguments of BLAS; `name` is the argument's, for messages. n, rows, columns > 0.
[[HIROBA_SHOWN]] Status find_vector(const Memory& memory, const char* name, const void* data, int64_t n, int64_t inc,
                                    size_t bytes, SharedVector& out);
Status find_matrix(const Memory& memory, const char* name, const void* data, int64_t rows, int64_t columns, int64_t lda,
                   size_t bytes, SharedMatrix& out);

class Linear {
 public:
  Linear();
  ~Linear();
  void start(Memory& memory, bool reproducible);
  void at_barrier();  // at each barrier of the program, with all ranks

  template <typename T>
  Status axpy(const Call& call, T a, const SharedVector& x, const SharedVector& y);
  template <typename T>
  Status copy(const Call& call, const SharedVector& x, const SharedVector& y);
  // With `clears`, 0 x is zeros for any x.
  template <typename T>
  Status scal(const Call& call, T a, const SharedVector& x, bool clears = false);
  template <typename T>
  Status dot(const Call& call, bool conjugate, const SharedVector& x, const SharedVector& y, T* result,
             Pending<T>& out);
  template <typename T>
  Status nrm2(const Call& call, const SharedVector& x, Real<T>* result, Pending<T>& out);
  template <typename T>
  Status asum(const Call& call, const SharedVector& x, Real<T>* result, Pending<T>& out);

  // y = alpha op(A) x + beta y, where op transposes, conjugates, both or neither.
  struct Op {
    bool transposed, conjugate;
  };
  template <typename T>
  Status gemv(const Call& call, Op op, T alpha, const SharedMatrix& a, const SharedVector& x, T beta,
              const SharedVector& y, Pending<T>& out);
  // A += alpha x y^T; with the conjugate of a complex vector, if requested.
  template <typename T>
  Status ger(const Call& call, T alpha, const SharedVector& x, bool conjugate_x, const SharedVector& y,
             bool conjugate_y, const SharedMatrix& a);

 private:
  std::unique_ptr<LinearParts> parts_;
};

}  // namespace hiroba
