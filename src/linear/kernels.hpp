// Loops over elements in consecutive memory, in vector code: they take all of this floor's time. Compiled once per kind
// of processor (kernels.cpp, see src/CMakeLists.txt); the best one for this processor is chosen.
//
// Pure; safe in any thread. Each result has a fixed order of operations that depends on its own operands alone: an
// element of a matrix-vector product has the same bits for any other rows or columns in the same call.
#pragma once

#include <cstdint>

#include "base/numbers.hpp"
#include "base/shown.hpp"

namespace hiroba {

// The sums that give x*y and conj(x)*y of complex vectors, by the parts of x and y; for real ones only rr.
template <typename R>
struct Products {
  R rr, ii, ri, ir;
  Products& operator+=(const Products& other) {
    rr += other.rr, ii += other.ii, ri += other.ri, ir += other.ir;
    return *this;
  }
};

template <typename T>
struct Kernels {
  using R = Real<T>;
  void (*axpy)(int64_t n, T a, const T* x, T* y);  // y += a x
  void (*scal)(int64_t n, T a, T* x);              // x = a x
  Products<R> (*dot)(int64_t n, const T* x, const T* y);
  R (*absolute)(int64_t n, const T* x);  // returns the sum of |re| + |im|
  R (*squares)(int64_t n, const T* x);   // returns the sum of squares, which may overflow
  // out[i] = the products of row i (a + i lda) with x.
  void (*dots)(int64_t rows, int64_t n, const T* a, int64_t lda, const T* x, Products<R>* out);
  // y += the sum over i of coefficient[i] * row i, or of its conjugate.
  void (*axpys)(int64_t rows, int64_t n, const T* a, int64_t lda, const T* coefficient, bool conjugate, T* y);
};

template <typename T>
[[HIROBA_SHOWN]] const Kernels<T>& kernels();
[[HIROBA_SHOWN]] int kernels_level();  // 4 for x86-64-v4; 0 for any processor

}  // namespace hiroba
