// What the random programs of sparse.h share: numbers of all types, and matrices that every rank has whole. For one
// thread.
#pragma once

#include <sms.h>
#include <sparse.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace random_sparse {

template <typename T>
struct RealOf {
  using type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <typename T>
using Real = typename RealOf<T>::type;
template <typename T>
constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

inline uint64_t state, hash = 0xcbf29ce484222325;
inline uint64_t draw() {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state * 0x2545f4914f6cdd1d;
}
inline int64_t between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>((draw() >> 16) % static_cast<uint64_t>(high - low + 1));
}
template <typename T>
T number() {
  const auto one = [] { return static_cast<Real<T>>(static_cast<double>(between(-1000, 1000)) / 256); };
  if constexpr (is_complex<T>) {
    const Real<T> re = one();
    return T(re, one());
  } else {
    return one();
  }
}
template <typename T>
constexpr hiroba_type type_of() {
  if constexpr (std::is_same_v<T, float>) return HIROBA_FLOAT;
  else if constexpr (std::is_same_v<T, double>) return HIROBA_DOUBLE;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return HIROBA_FLOAT_COMPLEX;
  else return HIROBA_DOUBLE_COMPLEX;
}
template <typename T>
T conjugate(const T& x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

inline std::string round_name;
[[noreturn]] inline void fail(const std::string& what) { sms_abort(1, (round_name + ": " + what).c_str()); }

// A matrix that every rank has whole.
template <typename T>
struct Whole {
  int64_t n;
  std::vector<std::map<int64_t, T>> rows;
  explicit Whole(int64_t size) : n(size), rows(static_cast<size_t>(size)) {}
  void add(int64_t i, int64_t j, const T& value) { rows[static_cast<size_t>(i)][j] += value; }
  void check(const T* x, const T* y, int64_t first, int64_t count) const {
    for (int64_t i = first; i < first + count; ++i) {
      std::complex<long double> sum = 0;
      long double size = 0;
      for (const auto& [j, value] : rows[static_cast<size_t>(i)]) {
        const std::complex<long double> a = value, b = x[j];
        sum += a * b, size += std::abs(a) * std::abs(b);
      }
      const std::complex<long double> got = y[i];
      const long double bound = 64 * std::numeric_limits<Real<T>>::epsilon() * size;
      if (!(std::abs(got - sum) <= bound))
        fail("element " + std::to_string(i) + " is " + std::to_string(static_cast<double>(got.real())) + ", not " +
             std::to_string(static_cast<double>(sum.real())));
    }
  }
};

// Of hiroba_linop_from_rows; the context is the matrix.
template <typename T>
int64_t row_of(int64_t i, int64_t* columns, void* values, void* context) {
  int64_t count = 0;
  for (const auto& [j, value] : static_cast<Whole<T>*>(context)->rows[static_cast<size_t>(i)])
    columns[count] = j, static_cast<T*>(values)[count++] = value;
  return count;
}

inline void add_to_hash(const void* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
}

// Reads --seed and --count.
inline int64_t begin(int argc, char** argv, int64_t count) {
  uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--count") == 0) count = std::atoll(argv[i + 1]);
  }
  state = seed * 0x9e3779b97f4a7c15 + 1;
  if (sms_rank == 0) std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return count;
}
inline void end() {
  const auto all = sms_reduce_int64(static_cast<int64_t>(hash), SMS_SUM);
  if (sms_rank == 0) std::printf("done %016llx\n", static_cast<unsigned long long>(all));
}

}  // namespace random_sparse
