// The loops of compound assignments. src/CMakeLists.txt compiles this file for speed.
#include "collective/operators/arithmetic.hpp"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace hiroba {

namespace {

template <typename T>
constexpr bool is_complex = std::is_same_v<T, __complex__ float> || std::is_same_v<T, __complex__ double> ||
                            std::is_same_v<T, __complex__ long double>;

// Wraps around where C leaves overflow undefined.
template <typename T>
T divide(T a, T b, bool remainder) {
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (b == T(-1)) return remainder ? T(0) : static_cast<T>(U(0) - static_cast<U>(a));
  }
  return static_cast<T>(remainder ? a % b : a / b);
}

template <Op op, typename T>
T combine_integers(T a, T b) {
  // Uses at least unsigned int: promotion of small types to int could overflow.
  using Small = std::make_unsigned_t<T>;
  using U = std::common_type_t<Small, unsigned>;
  const U u = static_cast<Small>(a), v = static_cast<Small>(b), bits = sizeof(U) * 8 - 1;
  switch (op) {
    case Op::add: return static_cast<T>(u + v);
    case Op::sub: return static_cast<T>(u - v);
    case Op::mul: return static_cast<T>(u * v);
    case Op::div: return divide(a, b, false);
    case Op::mod: return divide(a, b, true);
    case Op::bit_and: return static_cast<T>(u & v);
    case Op::bit_or: return static_cast<T>(u | v);
    case Op::bit_xor: return static_cast<T>(u ^ v);
    case Op::shl: return static_cast<T>(u << (v & bits));
    case Op::shr: return static_cast<T>(a >> (v & bits));
    default: return a;
  }
}

// Returns the greater, or the less, of two values, and a if they are equal. If either is a NaN, the result is a NaN, so
// the result over ranks is one, too. Its form lets the compiler vectorize the loop.
template <bool greater, typename T>
T extreme(T a, T b) {
  const bool first = greater ? a >= b : a <= b;
  if constexpr (std::is_floating_point_v<T>) return first || a != a ? a : b;
  else return first ? a : b;
}

template <Op op, typename T>
T combine(T a, T b) {
  switch (op) {
    case Op::logical_and: return static_cast<T>(a != T(0) && b != T(0));
    case Op::logical_or: return static_cast<T>(a != T(0) || b != T(0));
    default: break;
  }
  if constexpr (!is_complex<T>) {
    if constexpr (op == Op::max || op == Op::first_max || op == Op::last_max) return extreme<true>(a, b);
    if constexpr (op == Op::min || op == Op::first_min || op == Op::last_min) return extreme<false>(a, b);
  }
  if constexpr (std::is_same_v<T, bool>) {
    if constexpr (op == Op::bit_and || op == Op::mul) return a && b;
    if constexpr (op == Op::bit_or || op == Op::add) return a || b;
    if constexpr (op == Op::bit_xor || op == Op::sub) return a != b;
    return a;
  } else if constexpr (std::is_integral_v<T>) {
    return combine_integers<op>(a, b);
  } else {
    if constexpr (op == Op::add) return a + b;
    if constexpr (op == Op::sub) return a - b;
    if constexpr (op == Op::mul) return a * b;
    if constexpr (op == Op::div) return a / b;
    return a;
  }
}

// The same for rows, in vector code. A comparison with a NaN is false, so the first loop passes over those of b; the
// second one is needed only if b - b is not 0 somewhere, which is so for NaNs and infinities.
template <bool greater, typename T>
void extremes(T* __restrict a, const T* __restrict b, int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(int32_t), int32_t, int64_t>;
  Bits odd = 0;
  for (int64_t i = 0; i < count; ++i) {
    odd |= std::bit_cast<Bits>(b[i] - b[i]);
    a[i] = (greater ? b[i] > a[i] : b[i] < a[i]) ? b[i] : a[i];
  }
  for (int64_t i = 0; odd != 0 && i < count; ++i)
    if (b[i] != b[i]) a[i] = b[i];
}

template <typename T, Op op>
void apply_row(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) {
  constexpr int64_t n = sizeof(T);
  const auto at = [&](int64_t ts, int64_t fs) {
    for (int64_t i = 0; i < count; ++i) {
      T a, b;
      std::memcpy(&a, to + i * ts, n);
      std::memcpy(&b, from + i * fs, n);
      a = combine<op>(a, b);
      std::memcpy(to + i * ts, &a, n);
    }
  };
  if (to_stride == n && from_stride == n) {
    T* const __restrict a = reinterpret_cast<T*>(to);
    const T* const __restrict b = reinterpret_cast<const T*>(from);
    constexpr bool greater = op == Op::max || op == Op::first_max || op == Op::last_max;
    constexpr bool less = op == Op::min || op == Op::first_min || op == Op::last_min;
    constexpr bool of_vectors = std::is_same_v<T, float> || std::is_same_v<T, double>;
    if constexpr (of_vectors && (greater || less)) extremes<greater>(a, b, count);
    else
      for (int64_t i = 0; i < count; ++i) a[i] = combine<op>(a[i], b[i]);
  } else if (to_stride == n && from_stride == 0) {
    at(n, 0);
  } else {
    at(to_stride, from_stride);
  }
}

template <typename T, Op op>
constexpr Apply row() {
  constexpr bool of_integers = op == Op::mod || (op >= Op::bit_and && op <= Op::shr);
  constexpr bool ordered = op >= Op::max;
  if constexpr ((of_integers && !std::is_integral_v<T>) || (ordered && is_complex<T>)) return nullptr;
  else return apply_row<T, op>;
}

template <typename T, size_t... op>
Apply find(Op wanted, std::index_sequence<op...>) {
  static constexpr Apply table[ops] = {row<T, static_cast<Op>(op)>()...};
  return table[static_cast<int>(wanted)];
}

}  // namespace

Apply find_apply(Type type, Op op) {
  return with_type(type, [op]<typename T>() { return find<T>(op, std::make_index_sequence<ops>()); });
}

}  // namespace hiroba
