// The types of numbers of BLAS: float, double, and complex of these.
#pragma once

#include <complex>
#include <type_traits>

namespace hiroba {

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
inline constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

// Applies a macro to each of these types, to instantiate templates.
#define HIROBA_FOR_NUMBERS(M) M(float) M(double) M(std::complex<float>) M(std::complex<double>)

// A K for each of these types.
template <template <typename> class K>
struct ForNumbers {
  K<float> s;
  K<double> d;
  K<std::complex<float>> c;
  K<std::complex<double>> z;

  template <typename T>
  const K<T>& of() const {
    if constexpr (std::is_same_v<T, float>) return s;
    else if constexpr (std::is_same_v<T, double>) return d;
    else if constexpr (std::is_same_v<T, std::complex<float>>) return c;
    else return z;
  }
};

}  // namespace hiroba
