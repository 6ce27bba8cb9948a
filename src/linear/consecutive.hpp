// Part of the contract of this floor: operations on consecutive elements in memory that this process reaches, in vector
// code for its processor (kernels.hpp). Pure; safe in any thread. Each result has a fixed order of operations that
// depends on its own operands alone: an element of a matrix-vector product has the same bits for any other rows or
// columns in the same call.
#pragma once

#include <cstdint>

#include "base/numbers.hpp"
#include "base/shown.hpp"
#include "linear/products.hpp"

namespace hiroba {

// y += a x
template <typename T>
[[HIROBA_SHOWN]] void axpy(int64_t n, T a, const T* x, T* y);
// x = a x
template <typename T>
[[HIROBA_SHOWN]] void scal(int64_t n, T a, T* x);
template <typename T>
[[HIROBA_SHOWN]] Products<Real<T>> dot(int64_t n, const T* x, const T* y);
// Return the sum of |re| + |im|; and that of squares, which may overflow.
template <typename T>
[[HIROBA_SHOWN]] Real<T> absolute(int64_t n, const T* x);
template <typename T>
[[HIROBA_SHOWN]] Real<T> squares(int64_t n, const T* x);
// out[i] = the products of row i (a + i lda) with x.
template <typename T>
[[HIROBA_SHOWN]] void dots(int64_t rows, int64_t n, const T* a, int64_t lda, const T* x, Products<Real<T>>* out);
// y += the sum over i of coefficient[i] * row i, or of its conjugate.
template <typename T>
[[HIROBA_SHOWN]] void axpys(int64_t rows, int64_t n, const T* a, int64_t lda, const T* coefficient, bool conjugate,
                            T* y);

[[HIROBA_SHOWN]] int kernels_level();  // 4 for x86-64-v4; 0 for any processor

}  // namespace hiroba
