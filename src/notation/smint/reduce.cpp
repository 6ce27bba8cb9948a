// Reductions over ranks, in rank order, for all operators of C that OpenMP reduces with.
#include <algorithm>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "notation/sms/process.hpp"
#include "notation/xmp/xmp_process.hpp"
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

using hiroba::Type;

// The type that C computes in, of elements of this kind and size; false if there is none.
bool find_type(smint_type kind, size_t element, Type& type) {
  const auto choose = [&](std::initializer_list<std::pair<size_t, Type>> sizes) {
    for (const auto& [bytes, found] : sizes)
      if (bytes == element) return type = found, true;
    return false;
  };
  switch (kind) {
    case SMINT_SIGNED: return choose({{1, Type::int8}, {2, Type::int16}, {4, Type::int32}, {8, Type::int64}});
    case SMINT_UNSIGNED: return choose({{1, Type::uint8}, {2, Type::uint16}, {4, Type::uint32}, {8, Type::uint64}});
    case SMINT_REAL: return choose({{4, Type::float32}, {8, Type::float64}, {sizeof(long double), Type::long_double}});
    case SMINT_COMPLEX:
      return choose({{8, Type::complex_float}, {16, Type::complex_double}, {32, Type::complex_long_double}});
    default: return false;
  }
}

bool find_operator(smint_operator op, hiroba::Op& found) {
  using hiroba::Op;
  constexpr Op all[] = {Op::add,    Op::mul,     Op::min,         Op::max,       Op::bit_and,
                        Op::bit_or, Op::bit_xor, Op::logical_and, Op::logical_or};
  if (op < SMINT_SUM || op > SMINT_OR) return false;
  found = all[op];
  return true;
}

}  // namespace

#define SMINT_EXPORT extern "C" __attribute__((visibility("default")))

SMINT_EXPORT double smint_reduce_double(double value, smint_operator op) {
  return reduce(value, op, "smint_reduce_double");
}
SMINT_EXPORT int64_t smint_reduce_int64(int64_t value, smint_operator op) {
  return reduce(value, op, "smint_reduce_int64");
}
SMINT_EXPORT void smint_reduce(void* data, int64_t count, size_t element, smint_type type, smint_operator op,
                               const char* place) {
  const hiroba::Memory& memory = hiroba::process_memory("smint_reduce");
  Type of = Type::int32;
  hiroba::Op with = hiroba::Op::add;
  if (count < 0 || !find_type(type, element, of) || !find_operator(op, with))
    hiroba::end_job(1, "%s: reduction of %lld elements of %zu bytes, type %d, by operator %d: there is no such thing",
                    place, static_cast<long long>(count), element, static_cast<int>(type), static_cast<int>(op));
  // Whose collective operations take all types, and any number of elements.
  hiroba::start_coarrays("smint_reduce", place);
  hiroba::Arithmetic arithmetic;
  hiroba::require_at(hiroba::Arithmetic::make(static_cast<int>(of), static_cast<int>(of), static_cast<int>(with),
                                              arithmetic),
                     place);
  const hiroba::ImageSet all = {0, 1, memory.job().nranks, nullptr};
  hiroba::require_at(hiroba::process_coarrays().collective().reduce(all, static_cast<char*>(data), count, {arithmetic},
                                                                    {"smint_reduce", place}),
                     place);
}

extern "C" __attribute__((visibility("default"))) void smint_copy(void* data, size_t bytes, const char* place) {
  hiroba::Memory& memory = hiroba::process_memory("single copy");
  std::vector<std::vector<char>> all;
  const char* const mine = static_cast<const char*>(data);
  const hiroba::Status status = memory.gather({mine, memory.job().rank == 0 ? bytes : 0}, all,
                                              hiroba::format("single copy at %s", place).c_str());
  hiroba::require_at(status, place);
  if (memory.job().rank != 0) std::copy(all[0].begin(), all[0].end(), static_cast<char*>(data));
}
