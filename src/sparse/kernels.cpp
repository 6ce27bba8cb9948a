// The loops, for the processors that HIROBA_LEVEL names. As in linear/kernels.cpp no function of other headers is used.
#include "sparse/kernels.hpp"

#include "sparse/kernel_levels.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace hiroba {

namespace {

template <typename T>
constexpr int parts = is_complex<T> ? 2 : 1;

// Computes the sum of one row, by four independent sums.
template <typename R>
[[gnu::always_inline]] inline void row_sum(const R* value, const int32_t* column, int64_t n, const R* x, R* out) {
  R s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += value[k] * x[column[k]], s1 += value[k + 1] * x[column[k + 1]];
    s2 += value[k + 2] * x[column[k + 2]], s3 += value[k + 3] * x[column[k + 3]];
  }
  for (; k < n; ++k) s0 += value[k] * x[column[k]];
  *out = (s0 + s1) + (s2 + s3);
}

template <typename R>
[[gnu::always_inline]] inline void complex_row_sum(const R* value, const int32_t* column, int64_t n, const R* x,
                                                   R* out) {
  R re0 = 0, im0 = 0, re1 = 0, im1 = 0;
  const auto one = [&](int64_t k, R& re, R& im) {
    const R a = value[2 * k], b = value[2 * k + 1];
    const R* const at = x + 2 * static_cast<int64_t>(column[k]);
    re += a * at[0] - b * at[1], im += a * at[1] + b * at[0];
  };
  int64_t k = 0;
  for (; k + 2 <= n; k += 2) one(k, re0, im0), one(k + 1, re1, im1);
  if (k < n) one(k, re0, im0);
  out[0] = re0 + re1, out[1] = im0 + im1;
}

// Computes the sums of the rows of one slice, whose entries are [begin, end).
template <typename T, typename R>
[[gnu::always_inline]] inline void slice_sums(const SparseRows<T>& a, int64_t begin, int64_t end, const R* x, R* re,
                                              R* im) {
  constexpr int64_t c = slice_rows<T>;
  const int32_t* column = a.column + begin;
  const R* value = reinterpret_cast<const R*>(a.value + begin);
  for (int64_t k = begin; k < end; k += c, column += c, value += parts<T> * c) {
    if constexpr (parts<T> == 1) {
      for (int l = 0; l < c; ++l) re[l] += value[l] * x[column[l]];
    } else {
      for (int l = 0; l < c; ++l) {
        const R* const at = x + 2 * static_cast<int64_t>(column[l]);
        re[l] += value[2 * l] * at[0] - value[2 * l + 1] * at[1];
        im[l] += value[2 * l] * at[1] + value[2 * l + 1] * at[0];
      }
    }
  }
}

#if defined(__AVX512F__)
// Computes the same sums, bit for bit, by instructions that load all elements of a vector: compilers load them one by
// one.
[[gnu::always_inline]] inline void slice_sums(const SparseRows<double>& a, int64_t begin, int64_t end, const double* x,
                                              double* re, double*) {
  __m512d sum = _mm512_setzero_pd();
  for (int64_t k = begin; k < end; k += 8) {
    const __m256i column = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a.column + k));
    sum = _mm512_fmadd_pd(_mm512_loadu_pd(a.value + k),
                          _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, column, x, 8), sum);
  }
  _mm512_storeu_pd(re, sum);
}
[[gnu::always_inline]] inline void slice_sums(const SparseRows<float>& a, int64_t begin, int64_t end, const float* x,
                                              float* re, float*) {
  __m512 sum = _mm512_setzero_ps();
  for (int64_t k = begin; k < end; k += 16) {
    const __m512i column = _mm512_loadu_si512(a.column + k);
    sum = _mm512_fmadd_ps(_mm512_loadu_ps(a.value + k),
                          _mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, column, x, 4), sum);
  }
  _mm512_storeu_ps(re, sum);
}
#endif

template <typename T>
void csr(const SparseRows<T>& a, int64_t begin, int64_t end, const T* x, T* y, bool add) {
  using R = Real<T>;
  const R* const value = reinterpret_cast<const R*>(a.value);
  const R* const from = reinterpret_cast<const R*>(x);
  R* const to = reinterpret_cast<R*>(y);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = a.start[i], n = a.start[i + 1] - at;
    R sum[parts<T>];
    if constexpr (parts<T> == 1) row_sum(value + at, a.column + at, n, from, sum);
    else complex_row_sum(value + 2 * at, a.column + at, n, from, sum);
    R* const result = to + parts<T> * (a.to != nullptr ? a.to[i] : i);
    for (int p = 0; p < parts<T>; ++p) result[p] = add ? result[p] + sum[p] : sum[p];
  }
}

template <typename T>
void sell(const SparseRows<T>& a, int64_t begin, int64_t end, const T* x, T* y, bool add) {
  using R = Real<T>;
  constexpr int64_t c = slice_rows<T>;
  const R* const from = reinterpret_cast<const R*>(x);
  R* const to = reinterpret_cast<R*>(y);
  for (int64_t s = begin; s < end; ++s) {
    R re[c] = {}, im[c] = {};
    slice_sums(a, a.start[s], a.start[s + 1], from, re, im);
    const int64_t first = s * c, rows = a.rows - first < c ? a.rows - first : c;
    for (int64_t l = 0; l < rows; ++l) {
      R* const result = to + parts<T> * (a.to != nullptr ? a.to[first + l] : first + l);
      result[0] = add ? result[0] + re[l] : re[l];
      if constexpr (parts<T> == 2) result[1] = add ? result[1] + im[l] : im[l];
    }
  }
}

template <typename T>
void multiply(int64_t n, const T* d, const T* x, T* y) {
  using R = Real<T>;
  const R* const a = reinterpret_cast<const R*>(d);
  const R* const b = reinterpret_cast<const R*>(x);
  R* const out = reinterpret_cast<R*>(y);
  if constexpr (parts<T> == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
  } else {
    for (int64_t i = 0; i < 2 * n; i += 2) {
      const R re = a[i] * b[i] - a[i + 1] * b[i + 1], im = a[i] * b[i + 1] + a[i + 1] * b[i];
      out[i] = re, out[i + 1] = im;
    }
  }
}

template <typename T>
constexpr SparseKernels<T> table = {csr<T>, sell<T>, multiply<T>};

}  // namespace

#define HIROBA_JOIN2(a, b) a##b
#define HIROBA_JOIN(a, b) HIROBA_JOIN2(a, b)
const SparseKernelTables HIROBA_JOIN(sparse_kernels_, HIROBA_LEVEL) = {table<float>, table<double>,
                                                                       table<std::complex<float>>,
                                                                       table<std::complex<double>>};

}  // namespace hiroba
