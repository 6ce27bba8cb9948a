// libhiroba_blas: BLAS on private memory, under the names of Fortran's compilers, with 32-bit integers and complex
// results as of gfortran. The threads of a rank share the work. Wrong arguments go to xerbla_, which the program or
// another BLAS has, as in Netlib's.
#include <complex>
#include <cstdlib>

#include "base/log.hpp"
#include "linear/local.hpp"

#define BLAS_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" __attribute__((weak)) void xerbla_(const char* name, const int* argument, size_t name_length);

using hiroba::Product;
using hiroba::Real;

namespace {

using C = std::complex<float>;
using Z = std::complex<double>;

void wrong(const char* name, int argument) {
  if (xerbla_ != nullptr) return xerbla_(name, &argument, 6);
  hiroba::end_job(1, "BLAS: argument %d of %s has a value that it must not have", argument, name);
}

// Returns element 0 of a vector: the last one in memory if the distance is negative.
template <typename T>
T* first(int64_t n, T* x, int64_t inc) {
  return inc < 0 ? x + (1 - n) * inc : x;
}

template <typename T>
void axpy(int64_t n, T a, const T* x, int64_t incx, T* y, int64_t incy) {
  if (n <= 0 || a == T(0)) return;
  x = first(n, x, incx), y = first(n, y, incy);
  if (incy != 0) return hiroba::axpy_by_threads(n, a, x, incx, y, incy);
  for (int64_t i = 0; i < n; ++i) *y += hiroba::times(a, x[i * incx]);
}

template <typename T>
void copy(int64_t n, const T* x, int64_t incx, T* y, int64_t incy) {
  if (n <= 0) return;
  if (incy == 0) *y = first(n, x, incx)[(n - 1) * incx];
  else hiroba::copy_by_threads(n, first(n, x, incx), incx, first(n, y, incy), incy);
}

template <typename T>
void scal(int64_t n, T a, T* x, int64_t incx) {
  if (n > 0 && incx > 0) hiroba::scal_by_threads(n, a, x, incx, false);
}

template <typename T>
T dot(bool conjugate, int64_t n, const T* x, int64_t incx, const T* y, int64_t incy) {
  if (n <= 0) return T(0);
  return hiroba::value_of<T>(hiroba::sum_of<hiroba::DotSum<T>>(n, first(n, x, incx), incx, first(n, y, incy), incy),
                             conjugate);
}

template <typename T>
Real<T> nrm2(int64_t n, const T* x, int64_t incx) {
  if (n <= 0) return 0;
  const T* const from = first(n, x, incx);
  return hiroba::sum_of<hiroba::SquareSum<T>>(n, from, incx, from, incx).root();
}

template <typename T>
Real<T> asum(int64_t n, const T* x, int64_t incx) {
  if (n <= 0 || incx <= 0) return 0;
  return hiroba::sum_of<hiroba::AbsoluteSum<T>>(n, x, incx, x, incx);
}

// A matrix of Fortran, n columns of m elements, is n rows of its transpose.
template <typename T>
void gemv(const char* name, char trans, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x,
          int64_t incx, T beta, T* y, int64_t incy) {
  trans = static_cast<char>(trans & ~0x20);
  if (trans != 'N' && trans != 'T' && trans != 'C') return wrong(name, 1);
  if (m < 0) return wrong(name, 2);
  if (n < 0) return wrong(name, 3);
  if (lda < std::max<int64_t>(1, m)) return wrong(name, 6);
  if (incx == 0) return wrong(name, 8);
  if (incy == 0) return wrong(name, 11);
  if (m == 0 || n == 0) return;
  const bool turned = trans == 'N';  // for the rows in memory
  const int64_t results = turned ? m : n, terms = turned ? n : m;
  x = first(terms, x, incx), y = first(results, y, incy);
  if (beta != T(1)) hiroba::scal(results, beta, y, incy, true);
  if (alpha == T(0)) return;
  thread_local hiroba::Scratch of_x, of_y, of_sums;
  if (turned || incx != 1) {
    T* const copied = of_x.take<T>(terms);
    for (int64_t i = 0; i < terms; ++i) copied[i] = turned ? hiroba::times(alpha, x[i * incx]) : x[i * incx];
    x = copied;
  }
  T* const sums = of_y.take<T>(results);
  std::fill_n(sums, results, T(0));
  multiply(Product<T>{turned, trans == 'C', alpha, a, lda, n, m, x}, results, sums, of_sums);
  hiroba::add(results, sums, y, incy);
}

template <typename T>
void ger(const char* name, bool conjugate, int64_t m, int64_t n, T alpha, const T* x, int64_t incx, const T* y,
         int64_t incy, T* a, int64_t lda) {
  if (m < 0) return wrong(name, 1);
  if (n < 0) return wrong(name, 2);
  if (incx == 0) return wrong(name, 5);
  if (incy == 0) return wrong(name, 7);
  if (lda < std::max<int64_t>(1, m)) return wrong(name, 9);
  if (m == 0 || n == 0 || alpha == T(0)) return;
  x = first(m, x, incx), y = first(n, y, incy);
  thread_local hiroba::Scratch of_x, of_y;
  T* const factors = of_y.take<T>(n);
  for (int64_t j = 0; j < n; ++j) factors[j] = hiroba::times(alpha, hiroba::conjugated(y[j * incy], conjugate));
  hiroba::ger_by_threads(n, m, factors, hiroba::consecutive(m, x, incx, of_x.take<T>(m)), a, lda);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types and parts of names cannot be in parentheses.
#define VECTORS(t, T)                                                                                                  \
  BLAS_EXPORT void t##axpy_(const int* n, const T* a, const T* x, const int* incx, T* y, const int* incy) {            \
    axpy(*n, *a, x, *incx, y, *incy);                                                                                  \
  }                                                                                                                    \
  BLAS_EXPORT void t##copy_(const int* n, const T* x, const int* incx, T* y, const int* incy) {                        \
    copy(*n, x, *incx, y, *incy);                                                                                      \
  }                                                                                                                    \
  BLAS_EXPORT void t##scal_(const int* n, const T* a, T* x, const int* incx) { scal(*n, *a, x, *incx); }               \
  BLAS_EXPORT void t##gemv_(const char* trans, const int* m, const int* n, const T* alpha, const T* a, const int* lda, \
                            const T* x, const int* incx, const T* beta, T* y, const int* incy) {                       \
    static constexpr char name[] = {#t[0] & ~0x20, 'G', 'E', 'M', 'V', ' ', 0};                                        \
    gemv(name, *trans, *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);                                            \
  }
#define GER(t, ending, T, conjugate)                                                                               \
  BLAS_EXPORT void t##ger##ending##_(const int* m, const int* n, const T* alpha, const T* x, const int* incx,      \
                                     const T* y, const int* incy, T* a, const int* lda) {                          \
    static constexpr char name[] = {#t[0] & ~0x20, 'G', 'E', 'R', *#ending == 0 ? ' ' : *#ending & ~0x20, ' ', 0}; \
    ger(name, conjugate, *m, *n, *alpha, x, *incx, y, *incy, a, *lda);                                             \
  }
#define NORMS(t, T)                                                                                      \
  BLAS_EXPORT Real<T> t##nrm2_(const int* n, const T* x, const int* incx) { return nrm2(*n, x, *incx); } \
  BLAS_EXPORT Real<T> t##asum_(const int* n, const T* x, const int* incx) { return asum(*n, x, *incx); }
#define REAL(t, T)                                                                                \
  VECTORS(t, T)                                                                                   \
  NORMS(t, T)                                                                                     \
  GER(t, , T, false)                                                                              \
  BLAS_EXPORT T t##dot_(const int* n, const T* x, const int* incx, const T* y, const int* incy) { \
    return dot(false, *n, x, *incx, y, *incy);                                                    \
  }
#define COMPLEX_DOT(name, T, conjugate)                                                                            \
  BLAS_EXPORT decltype(T().__rep()) name(const int* n, const T* x, const int* incx, const T* y, const int* incy) { \
    return dot(conjugate, *n, x, *incx, y, *incy).__rep();                                                         \
  }
#define COMPLEX(t, r, T)          \
  VECTORS(t, T)                   \
  NORMS(r##t, T)                  \
  GER(t, u, T, false)             \
  GER(t, c, T, true)              \
  COMPLEX_DOT(t##dotu_, T, false) \
  COMPLEX_DOT(t##dotc_, T, true)  \
  BLAS_EXPORT void t##r##scal_(const int* n, const Real<T>* a, T* x, const int* incx) { scal(*n, T(*a), x, *incx); }

// NOLINTEND(bugprone-macro-parentheses)

REAL(s, float)
REAL(d, double)
COMPLEX(c, s, C)
COMPLEX(z, d, Z)
