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

}  // namespace hiroba
