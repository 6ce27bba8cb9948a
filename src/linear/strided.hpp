// The operations on vectors in memory that this process reaches, with any step from element to element: element i is
// x[i * step]. The kernels need consecutive elements; others are copied in blocks. Pure; in one thread.
#pragma once

#include <algorithm>

#include "linear/sums.hpp"

namespace hiroba {

template <typename T>
T conjugated(const T& x, bool conjugate) {
  if constexpr (is_complex<T>) return conjugate ? T(x.real(), -x.imag()) : x;
  else return x;
}

// Returns alpha * x as the standard defines it, without its checks for infinite parts.
template <typename T>
T times(const T& a, const T& x) {
  if constexpr (is_complex<T>)
    return T(a.real() * x.real() - a.imag() * x.imag(), a.real() * x.imag() + a.imag() * x.real());
  else return a * x;
}

template <typename T>
void gather(int64_t n, const T* x, int64_t step, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i * step];
}
template <typename T>
void scatter(int64_t n, const T* x, T* out, int64_t step) {
  for (int64_t i = 0; i < n; ++i) out[i * step] = x[i];
}

// The largest number of elements in a buffer.
inline constexpr int64_t buffered = 512;

// Returns n consecutive elements from x on: in place, or copied into `buffer`.
template <typename T>
const T* consecutive(int64_t n, const T* x, int64_t step, T* buffer) {
  if (step == 1) return x;
  gather(n, x, step, buffer);
  return buffer;
}

template <typename T>
void axpy(int64_t n, T a, const T* x, int64_t x_step, T* y, int64_t y_step) {
  if (x_step == 1 && y_step == 1) return hiroba::axpy(n, a, x, y);
  T xs[buffered], ys[buffered];
  for (int64_t i = 0; i < n; i += buffered) {
    const int64_t m = std::min(buffered, n - i);
    const T* const from = consecutive(m, x + i * x_step, x_step, xs);
    gather(m, y + i * y_step, y_step, ys);
    hiroba::axpy(m, a, from, ys);
    scatter(m, ys, y + i * y_step, y_step);
  }
}

template <typename T>
void copy(int64_t n, const T* x, int64_t x_step, T* y, int64_t y_step) {
  if (x_step == 1 && y_step == 1) std::copy_n(x, n, y);
  else
    for (int64_t i = 0; i < n; ++i) y[i * y_step] = x[i * x_step];
}

// x = a x; with `clears`, zeros for a = 0 and any x.
template <typename T>
void scal(int64_t n, T a, T* x, int64_t step, bool clears = false) {
  if (clears && a == T(0)) {
    for (int64_t i = 0; i < n; ++i) x[i * step] = T(0);
    return;
  }
  if (step == 1) return hiroba::scal(n, a, x);
  T xs[buffered];
  for (int64_t i = 0; i < n; i += buffered) {
    const int64_t m = std::min(buffered, n - i);
    gather(m, x + i * step, step, xs);
    hiroba::scal(m, a, xs);
    scatter(m, xs, x + i * step, step);
  }
}

// y += x, where x is consecutive.
template <typename T>
void add(int64_t n, const T* x, T* y, int64_t y_step) {
  for (int64_t i = 0; i < n; ++i) y[i * y_step] += x[i];
}

template <typename T>
T value_of(const Products<Real<T>>& p, bool conjugate) {
  if constexpr (is_complex<T>) return conjugate ? T(p.rr + p.ii, p.ri - p.ir) : T(p.rr - p.ii, p.ri + p.ir);
  else return p.rr;
}

// ---- sums over vectors: each a type with its value, and of() for a stretch ------------------------------------------

template <typename T>
struct DotSum {
  using Value = Products<Real<T>>;
  static Value of(int64_t n, const T* x, int64_t x_step, const T* y, int64_t y_step) {
    if (x_step == 1 && y_step == 1) return hiroba::dot(n, x, y);
    T xs[buffered], ys[buffered];
    Value sum{};
    for (int64_t i = 0; i < n; i += buffered) {
      const int64_t m = std::min(buffered, n - i);
      sum += hiroba::dot(m, consecutive(m, x + i * x_step, x_step, xs), consecutive(m, y + i * y_step, y_step, ys));
    }
    return sum;
  }
};

template <typename T>
struct AbsoluteSum {
  using Value = Real<T>;
  static Value of(int64_t n, const T* x, int64_t step, const T*, int64_t) {
    if (step == 1) return hiroba::absolute(n, x);
    T xs[buffered];
    Value sum = 0;
    for (int64_t i = 0; i < n; i += buffered) {
      const int64_t m = std::min(buffered, n - i);
      sum += hiroba::absolute(m, consecutive(m, x + i * step, step, xs));
    }
    return sum;
  }
};

template <typename T>
struct SquareSum {
  using R = Real<T>;
  using Value = Squares<R>;
  static Value of(int64_t n, const T* x, int64_t step, const T*, int64_t) {
    T xs[buffered];
    Value sum{};
    // Short even if elements are consecutive, so that elements that are read again are still in the cache.
    constexpr int64_t stretch = 4096;
    for (int64_t i = 0; i < n; i += step == 1 ? stretch : buffered) {
      const int64_t m = std::min(step == 1 ? stretch : buffered, n - i);
      const T* const from = consecutive(m, x + i * step, step, xs);
      const R squares = hiroba::squares(m, from);
      if (squares >= Value::least && squares <= Value::most) sum.medium += squares;
      else one_by_one(m, from, sum);
    }
    return sum;
  }

 private:
  static void one_by_one(int64_t n, const T* x, Value& sum) {
    const R* const parts = reinterpret_cast<const R*>(x);
    for (int64_t i = 0; i < n * (is_complex<T> ? 2 : 1); ++i) sum.add(parts[i]);
  }
};

}  // namespace hiroba
