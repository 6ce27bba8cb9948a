// Reductions over ranks, in rank order, for all operators of C that OpenMP reduces with.
#include <type_traits>

#include "base/log.hpp"
#include "notation/sms/process.hpp"
#include "smint.h"

namespace {

template <typename T>
T combine(T a, T b, smint_operator op) {
  switch (op) {
    case SMINT_SUM: return a + b;
    case SMINT_PROD: return a * b;
    case SMINT_MIN: return b < a ? b : a;
    case SMINT_MAX: return b > a ? b : a;
    case SMINT_AND: return static_cast<T>(a != 0 && b != 0);
    case SMINT_OR: return static_cast<T>(a != 0 || b != 0);
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == SMINT_BITAND) return a & b;
    if (op == SMINT_BITOR) return a | b;
    if (op == SMINT_BITXOR) return a ^ b;
  }
  hiroba::end_job(1, "reduction with operator %d, which this type does not have", static_cast<int>(op));
}

template <typename T>
T reduce(T value, smint_operator op, const char* name) {
  return hiroba::reduce_over_ranks(value, name, op, [op](T a, T b) { return combine(a, b, op); });
}

}  // namespace

#define SMINT_EXPORT extern "C" __attribute__((visibility("default")))

SMINT_EXPORT double smint_reduce_double(double value, smint_operator op) {
  return reduce(value, op, "smint_reduce_double");
}
SMINT_EXPORT int64_t smint_reduce_int64(int64_t value, smint_operator op) {
  return reduce(value, op, "smint_reduce_int64");
}
