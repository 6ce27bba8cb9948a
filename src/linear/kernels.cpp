// The loops, over vectors of HIROBA_VECTOR bytes, for the processors that HIROBA_LEVEL names. Complex numbers are pairs
// of real ones. This file uses no function of other headers but the compiler's intrinsics: a function that is not
// inlined would be compiled for a processor that the program may not run on, and the linker could use it in the rest of
// the library.
#include "linear/kernels.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "linear/kernel_levels.hpp"

namespace hiroba {

namespace {

template <typename R>
struct Lanes {
  using V [[gnu::vector_size(HIROBA_VECTOR)]] = R;
  static constexpr int width = HIROBA_VECTOR / sizeof(R);
};
template <typename R>
using V = typename Lanes<R>::V;

template <typename R>
[[gnu::always_inline]] inline V<R> load(const R* x) {
  V<R> v;
  __builtin_memcpy(&v, x, sizeof v);
  return v;
}

template <typename R>
[[gnu::always_inline]] inline void store(R* x, const V<R>& v) {
  __builtin_memcpy(x, &v, sizeof v);
}

// Loads the last `count` numbers, then zeros: ends are computed as full vectors, so with the same bits. It is one
// instruction if the processor has one: number by number the end of a short row takes longer than the row.
#if defined(__AVX512F__)
[[gnu::always_inline]] inline uint32_t first_lanes(int64_t count) { return (uint32_t{1} << count) - 1; }
template <typename R>
[[gnu::always_inline]] inline V<R> load_some(const R* x, int64_t count) {
  if constexpr (sizeof(R) == 8) return (V<R>)_mm512_maskz_loadu_pd(static_cast<__mmask8>(first_lanes(count)), x);
  else return (V<R>)_mm512_maskz_loadu_ps(static_cast<__mmask16>(first_lanes(count)), x);
}
template <typename R>
[[gnu::always_inline]] inline void store_some(R* x, const V<R>& v, int64_t count) {
  if constexpr (sizeof(R) == 8) _mm512_mask_storeu_pd(x, static_cast<__mmask8>(first_lanes(count)), (__m512d)v);
  else _mm512_mask_storeu_ps(x, static_cast<__mmask16>(first_lanes(count)), (__m512)v);
}
#elif defined(__AVX2__)
template <typename R>
[[gnu::always_inline]] inline __m256i first_lanes(int64_t count) {
  if constexpr (sizeof(R) == 8) return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  else return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
template <typename R>
[[gnu::always_inline]] inline V<R> load_some(const R* x, int64_t count) {
  if constexpr (sizeof(R) == 8) return (V<R>)_mm256_maskload_pd(x, first_lanes<R>(count));
  else return (V<R>)_mm256_maskload_ps(x, first_lanes<R>(count));
}
template <typename R>
[[gnu::always_inline]] inline void store_some(R* x, const V<R>& v, int64_t count) {
  if constexpr (sizeof(R) == 8) _mm256_maskstore_pd(x, first_lanes<R>(count), (__m256d)v);
  else _mm256_maskstore_ps(x, first_lanes<R>(count), (__m256)v);
}
#else
template <typename R>
[[gnu::always_inline]] inline V<R> load_some(const R* x, int64_t count) {
  V<R> v = {};
  for (int64_t i = 0; i < count; ++i) v[i] = x[i];
  return v;
}
template <typename R>
[[gnu::always_inline]] inline void store_some(R* x, const V<R>& v, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = v[i];
}
#endif

// Swaps imaginary and real parts.
template <typename R>
[[gnu::always_inline]] inline V<R> swapped(const V<R>& v) {
#ifdef __clang__  // clang makes one instruction of the loop, and has no such function
  V<R> out;
  for (int i = 0; i < Lanes<R>::width; ++i) out[i] = v[i ^ 1];
  return out;
#else
  using Index [[gnu::vector_size(HIROBA_VECTOR)]] = std::conditional_t<sizeof(R) == 8, int64_t, int32_t>;
  Index index;
  for (int i = 0; i < Lanes<R>::width; ++i) index[i] = i ^ 1;
  return __builtin_shuffle(v, index);
#endif
}

template <typename R>
[[gnu::always_inline]] inline V<R> all(R even, R odd) {
  V<R> v;
  for (int i = 0; i < Lanes<R>::width; ++i) v[i] = i % 2 == 0 ? even : odd;
  return v;
}

// The sums of the even and of the odd lanes, by halves.
template <typename R>
struct Pair {
  R even, odd;
};
template <typename R>
[[gnu::always_inline]] inline Pair<R> sum(const V<R>& v) {
  R part[Lanes<R>::width];
  store(part, v);
  for (int w = Lanes<R>::width / 2; w >= 2; w /= 2)
    for (int i = 0; i < w; ++i) part[i] += part[i + w];
  return {part[0], part[1]};
}

// Calls full(i) for whole vectors of `numbers` numbers from 0 on, `unroll` at a time, the last ones singly; then
// some(i, count) for the rest.
template <typename R, int unroll, typename Full, typename One, typename Some>
[[gnu::always_inline]] inline void over(int64_t numbers, const Full& full, const One& one, const Some& some) {
  constexpr int64_t w = Lanes<R>::width;
  int64_t i = 0;
  for (; i + unroll * w <= numbers; i += unroll * w) full(i);
  for (; i + w <= numbers; i += w) one(i);
  if (i < numbers) some(i, numbers - i);
}

template <typename T>
constexpr int64_t parts = is_complex<T> ? 2 : 1;

template <typename T>
const Real<T>* reals(const T* x) {
  return reinterpret_cast<const Real<T>*>(x);
}
template <typename T>
Real<T>* reals(T* x) {
  return reinterpret_cast<Real<T>*>(x);
}

// Rounds the product before it is added: if both terms of a sum are products, the compiler would choose the one to
// fuse, and might choose otherwise elsewhere.
template <typename R>
[[gnu::always_inline]] inline V<R> rounded(V<R> v) {
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__x86_64__)
  asm("" : "+x"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#else
  asm("" : "+m"(v));
#endif
  return v;
}

// Computes a * v, where c = (re, re), d = (-im, im) of a.
template <typename T>
struct Factor {
  using R = Real<T>;
  V<R> c, d;
  explicit Factor(const T& a) {
    if constexpr (is_complex<T>) {
      const R* const part = reals(&a);
      c = all<R>(part[0], part[0]), d = all<R>(-part[1], part[1]);
    } else {
      c = all<R>(a, a), d = V<R>{};
    }
  }
  V<R> times(const V<R>& v) const {
    if constexpr (is_complex<T>) return rounded<R>(c * v) + d * swapped<R>(v);
    else return c * v;
  }
  V<R> times_added(const V<R>& v, const V<R>& y) const {
    if constexpr (is_complex<T>) return (y + c * v) + d * swapped<R>(v);
    else return y + c * v;
  }
};

// Returns how many numbers are before the first full cache line. Stores that cross lines cost a fifth of the speed.
template <typename T>
[[gnu::always_inline]] inline int64_t before_line(int64_t numbers, const Real<T>* y) {
  const auto left = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(y) % 64);
  if (left % static_cast<int64_t>(sizeof(T)) != 0) return 0;
  const int64_t out = left / static_cast<int64_t>(sizeof(Real<T>));
  return out < numbers ? out : numbers;
}

template <typename T>
void axpy(int64_t n, T a, const T* xs, T* ys) {
  using R = Real<T>;
  const Factor<T> factor(a);
  constexpr int w = Lanes<R>::width;
  const R* x = reals(xs);
  R* y = reals(ys);
  const auto one = [&](int64_t i) { store(y + i, factor.times_added(load(x + i), load(y + i))); };
  const auto some = [&](int64_t i, int64_t count) {
    for (; count > 0; i += w, count -= w) {
      const int64_t m = count < w ? count : w;
      store_some(y + i, factor.times_added(load_some(x + i, m), load_some(y + i, m)), m);
    }
  };
  const int64_t head = before_line<T>(n * parts<T>, y);
  some(0, head);
  x += head, y += head;
  over<R, 4>(n * parts<T> - head, [&](int64_t i) { one(i), one(i + w), one(i + 2 * w), one(i + 3 * w); }, one, some);
}

template <typename T>
void scal(int64_t n, T a, T* xs) {
  using R = Real<T>;
  const Factor<T> factor(a);
  constexpr int w = Lanes<R>::width;
  R* x = reals(xs);
  const auto one = [&](int64_t i) { store(x + i, factor.times(load(x + i))); };
  const auto some = [&](int64_t i, int64_t count) {
    for (; count > 0; i += w, count -= w) {
      const int64_t m = count < w ? count : w;
      store_some(x + i, factor.times(load_some(x + i, m)), m);
    }
  };
  const int64_t head = before_line<T>(n * parts<T>, x);
  some(0, head);
  x += head;
  over<R, 4>(n * parts<T> - head, [&](int64_t i) { one(i), one(i + w), one(i + 2 * w), one(i + 3 * w); }, one, some);
}

// The sums of products of numbers at the same place, and of those at the other place of a pair.
template <typename T>
struct Dot {
  using R = Real<T>;
  V<R> same = {}, other = {};
  [[gnu::always_inline]] void add(const V<R>& x, const V<R>& y, const V<R>& y_swapped) {
    same += x * y;
    if constexpr (is_complex<T>) other += x * y_swapped;
  }
  Products<R> value() const {
    const Pair<R> s = sum<R>(same);
    if constexpr (!is_complex<T>) return {s.even + s.odd, 0, 0, 0};
    const Pair<R> o = sum<R>(other);
    return {s.even, s.odd, o.even, o.odd};
  }
};

template <typename T>
[[gnu::always_inline]] inline V<Real<T>> swapped_of(const V<Real<T>>& v) {
  if constexpr (is_complex<T>) return swapped<Real<T>>(v);
  else return v;
}

template <typename T>
Products<Real<T>> dot(int64_t n, const T* xs, const T* ys) {
  using R = Real<T>;
  const R *const x = reals(xs), *const y = reals(ys);
  constexpr int w = Lanes<R>::width;
  Dot<T> sums[4];
  const auto add = [&](Dot<T>& into, const V<R>& a, const V<R>& b) { into.add(a, b, swapped_of<T>(b)); };
  const auto one = [&](int64_t i) { add(sums[0], load(x + i), load(y + i)); };
  over<R, 4>(
      n * parts<T>,
      [&](int64_t i) {
        for (int k = 0; k < 4; ++k) add(sums[k], load(x + i + k * w), load(y + i + k * w));
      },
      one, [&](int64_t i, int64_t count) { add(sums[0], load_some(x + i, count), load_some(y + i, count)); });
  for (int k : {1, 2, 3}) sums[0].same += sums[k].same, sums[0].other += sums[k].other;
  return sums[0].value();
}

// Returns the sum of f of all numbers.
template <typename T, typename F>
[[gnu::always_inline]] inline Real<T> total(int64_t n, const T* xs, const F& f) {
  using R = Real<T>;
  const R* const x = reals(xs);
  constexpr int w = Lanes<R>::width;
  V<R> sums[8] = {};
  over<R, 8>(
      n * parts<T>,
      [&](int64_t i) {
        for (int k = 0; k < 8; ++k) sums[k] += f(load(x + i + k * w));
      },
      [&](int64_t i) { sums[0] += f(load(x + i)); },
      [&](int64_t i, int64_t count) { sums[0] += f(load_some(x + i, count)); });
  for (int k = 1; k < 8; ++k) sums[0] += sums[k];
  const Pair<R> s = sum<R>(sums[0]);
  return s.even + s.odd;
}

template <typename T>
Real<T> absolute(int64_t n, const T* x) {
  return total(n, x, [](const V<Real<T>>& v) { return v < 0 ? -v : v; });
}

template <typename T>
Real<T> squares(int64_t n, const T* x) {
  return total(n, x, [](const V<Real<T>>& v) { return v * v; });
}

template <typename T, int rows>
void dots_of(int64_t n, const T* as, int64_t lda, const T* xs, Products<Real<T>>* out) {
  using R = Real<T>;
  const R *const a = reals(as), *const x = reals(xs);
  const int64_t step = lda * parts<T>;
  Dot<T> sums[rows];
  const auto one = [&](int64_t i) {
    const V<R> v = load(x + i), s = swapped_of<T>(v);
    for (int r = 0; r < rows; ++r) sums[r].add(load(a + r * step + i), v, s);
  };
  over<R, 1>(n * parts<T>, one, one, [&](int64_t i, int64_t count) {
    const V<R> v = load_some(x + i, count), s = swapped_of<T>(v);
    for (int r = 0; r < rows; ++r) sums[r].add(load_some(a + r * step + i, count), v, s);
  });
  for (int r = 0; r < rows; ++r) out[r] = sums[r].value();
}

template <typename T>
void dots(int64_t rows, int64_t n, const T* a, int64_t lda, const T* x, Products<Real<T>>* out) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) dots_of<T, 4>(n, a + r * lda, lda, x, out + r);
  for (; r < rows; ++r) dots_of<T, 1>(n, a + r * lda, lda, x, out + r);
}

template <typename T, int rows>
void axpys_of(int64_t n, const T* as, int64_t lda, const T* coefficient, bool conjugate, T* ys) {
  using R = Real<T>;
  const R* const a = reals(as);
  R* const y = reals(ys);
  const int64_t step = lda * parts<T>;
  V<R> re[rows], im[rows];
  for (int r = 0; r < rows; ++r) {
    const R* const c = reals(coefficient + r);
    re[r] = all<R>(c[0], c[0]);
    im[r] = is_complex<T> ? all<R>(c[parts<T> - 1], c[parts<T> - 1]) : V<R>{};
  }
  const R minus = conjugate ? -1 : 1;
  const V<R> re_sign = all<R>(1, minus), im_sign = all<R>(-minus, 1);
  const auto sum_of = [&](const V<R>& before, const auto& row) {
    V<R> p = rounded<R>(re[0] * row(0)), q = rounded<R>(im[0] * row(0));
    for (int r = 1; r < rows; ++r) {
      p += re[r] * row(r);
      if constexpr (is_complex<T>) q += im[r] * row(r);
    }
    if constexpr (is_complex<T>) return before + (rounded<R>(re_sign * p) + im_sign * swapped<R>(q));
    else return before + p;
  };
  const auto one = [&](int64_t i) { store(y + i, sum_of(load(y + i), [&](int r) { return load(a + r * step + i); })); };
  constexpr int w = Lanes<R>::width;
  over<R, 2>(
      n * parts<T>, [&](int64_t i) { one(i), one(i + w); }, one,
      [&](int64_t i, int64_t count) {
        store_some(y + i, sum_of(load_some(y + i, count), [&](int r) { return load_some(a + r * step + i, count); }),
                   count);
      });
}

// Uses strips of y that stay in the second-level cache for all rows; shorter strips of the rows were slower from
// memory.
template <typename T>
void axpys(int64_t rows, int64_t n, const T* a, int64_t lda, const T* coefficient, bool conjugate, T* y) {
  constexpr int64_t strip = 65536 / sizeof(T);
  for (int64_t j = 0; j < n; j += strip) {
    const int64_t m = n - j < strip ? n - j : strip;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) axpys_of<T, 4>(m, a + r * lda + j, lda, coefficient + r, conjugate, y + j);
    for (; r < rows; ++r) axpys_of<T, 1>(m, a + r * lda + j, lda, coefficient + r, conjugate, y + j);
  }
}

template <typename T>
constexpr Kernels<T> table = {axpy<T>, scal<T>, dot<T>, absolute<T>, squares<T>, dots<T>, axpys<T>};

}  // namespace

#define HIROBA_JOIN2(a, b) a##b
#define HIROBA_JOIN(a, b) HIROBA_JOIN2(a, b)
const KernelTables HIROBA_JOIN(kernels_, HIROBA_LEVEL) = {table<float>, table<double>, table<std::complex<float>>,
                                                          table<std::complex<double>>};

}  // namespace hiroba
