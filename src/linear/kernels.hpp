// The operations of consecutive.hpp, compiled once per kind of processor (kernels.cpp, see src/CMakeLists.txt). They
// take all of this floor's time.
#pragma once

#include <cstdint>

#include "base/numbers.hpp"
#include "linear/products.hpp"

namespace hiroba {

template <typename T>
struct Kernels {
  using R = Real<T>;
  void (*axpy)(int64_t n, T a, const T* x, T* y);
  void (*scal)(int64_t n, T a, T* x);
  Products<R> (*dot)(int64_t n, const T* x, const T* y);
  R (*absolute)(int64_t n, const T* x);
  R (*squares)(int64_t n, const T* x);
  void (*dots)(int64_t rows, int64_t n, const T* a, int64_t lda, const T* x, Products<R>* out);
  void (*axpys)(int64_t rows, int64_t n, const T* a, int64_t lda, const T* coefficient, bool conjugate, T* y);
};

}  // namespace hiroba
