// An operator that is a function of the program: y = f(x) on vectors in shared arrays, called by all ranks together.
//
// Owner: its creator. Each product copies this rank's part into a shared vector and out of one, and begins with a
// barrier, so that the function sees all of x. The vectors alternate: one is written while a late rank still reads that
// of the last product.
#pragma once

#include "sparse/operator.hpp"

namespace hiroba {

template <typename T>
class FunctionOperator final : public Operator<T> {
 public:
  using Function = void (*)(const void* x, void* y, void* context);
  FunctionOperator(const Rows& rows, Function function, void* context)
      : rows_(rows), function_(function), context_(context) {}

  const Rows& rows() const override { return rows_; }
  std::string what() const override { return format("function on vectors of %ld elements", rows_.count()); }
  Status apply(const Ranks& ranks, const T* x, T* y) override {
    if (y_ == nullptr) {
      for (void** vector : {&x_[0], &x_[1], &y_})
        HIROBA_TRY(ranks.allocate(rows_.cuts, sizeof(T), "vector of an operator", *vector));
    }
    T *const in = static_cast<T*>(x_[turn_ = 1 - turn_]), *const out = static_cast<T*>(y_);
    const int64_t begin = rows_.begin(ranks.me()), n = rows_.of(ranks.me());
    copy_by_threads(n, x, 1, in + begin, 1);
    HIROBA_TRY(ranks.barrier());
    function_(in, out, context_);
    copy_by_threads(n, out + begin, 1, y, 1);
    return {};
  }
  Status release(const Ranks& ranks) override {
    for (void** vector : {&x_[0], &x_[1], &y_})
      if (*vector != nullptr) HIROBA_TRY(ranks.free(std::exchange(*vector, nullptr)));
    return {};
  }

 private:
  Rows rows_;
  Function function_;
  void* context_;
  void *x_[2] = {}, *y_ = nullptr;
  int turn_ = 0;
};

}  // namespace hiroba
