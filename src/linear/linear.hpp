// The contract of this floor: linear algebra on vectors and matrices in shared arrays, by all ranks together.
//
// A Linear object is one rank's part; the process owns it. Each rank computes the elements that it owns of the result
// (level 1, ger), or takes part with what it owns of the matrix (gemv). What it needs of others it reads where it is,
// or fetches. README.md beside this file says who does what, in which order sums are made, and when a call begins with
// a barrier.
//
// Collective: all ranks make the same calls in the same order, by one thread each. Level 1 without sums, and ger, end
// without waiting. Sums give Pending, which the caller reduces over all ranks. T is float, double, or complex of one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/shown.hpp"
#include "linear/local.hpp"
#include "linear/numbers.hpp"
#include "linear/operands.hpp"
#include "memory/memory.hpp"

namespace hiroba {

struct LinearParts;

// What a call leaves to do: `values` are added over all ranks, unless there are none, and finish(values) makes the
// result of them.
template <typename T>
struct Pending {
  using R = Real<T>;
  std::vector<R> values;
  std::function<void(R* values)> finish;
};

class Linear {
 public:
  Linear();
  ~Linear();
  void start(Memory& memory, bool reproducible);
  void at_barrier();  // of the program, with all ranks

  // Operands from the arguments of BLAS; `name` is the argument's, for messages. n, rows, columns > 0.
  [[HIROBA_SHOWN]] Status vector(const char* name, const void* data, int64_t n, int64_t inc, size_t bytes,
                                 SharedVector& out) const;
  Status matrix(const char* name, const void* data, int64_t rows, int64_t columns, int64_t lda, size_t bytes,
                SharedMatrix& out) const;

  template <typename T>
  Status axpy(const Call& call, T a, const SharedVector& x, const SharedVector& y);
  template <typename T>
  Status copy(const Call& call, const SharedVector& x, const SharedVector& y);
  // 0 x is zeros if `clears`, whatever x was.
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
  // A += alpha x y^T; of a complex vector its conjugate, where wanted.
  template <typename T>
  Status ger(const Call& call, T alpha, const SharedVector& x, bool conjugate_x, const SharedVector& y,
             bool conjugate_y, const SharedMatrix& a);

 private:
  std::unique_ptr<LinearParts> parts_;
};

}  // namespace hiroba
