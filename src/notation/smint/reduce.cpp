// Reductions over ranks, in rank order, for all operators of C that OpenMP has.
#include <algorithm>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "notation/smint/smint_process.hpp"
#include "notation/sms/reduce.hpp"
#include "smint.h"

namespace {

bool find_operator(smint_operator op, hiroba::Op& found) {
  using hiroba::Op;
  constexpr Op all[] = {Op::add,    Op::mul,     Op::min,         Op::max,       Op::bit_and,
                        Op::bit_or, Op::bit_xor, Op::logical_and, Op::logical_or};
  if (op < SMINT_SUM || op > SMINT_OR) return false;
  found = all[op];
  return true;
}

template <typename T>
T reduce(T value, smint_operator op, const char* call) {
  hiroba::Op with = hiroba::Op::add;
  if (!find_operator(op, with)) hiroba::end_job(1, "%s: there is no operator %d", call, static_cast<int>(op));
  return hiroba::reduce_value(value, with, call);
}

using hiroba::Team;
using hiroba::Type;

// Finds the type in which C computes with elements of this kind and size; false if there is none.
bool find_type(smint_type kind, size_t element, Type& type) {
  for (int i = static_cast<int>(Type::int8); i < hiroba::types; ++i) {
    type = static_cast<Type>(i);
    const smint_type of = type >= Type::complex_float ? SMINT_COMPLEX
                          : type >= Type::float32     ? SMINT_REAL
                          : i % 2 == 1                ? SMINT_SIGNED
                                                      : SMINT_UNSIGNED;
    if (of == kind && bytes_of(type) == element) return true;
  }
  return false;
}

}  // namespace

SMINT_EXPORT double smint_reduce_double(double value, smint_operator op) {
  return reduce(value, op, "smint_reduce_double");
}
SMINT_EXPORT int64_t smint_reduce_int64(int64_t value, smint_operator op) {
  return reduce(value, op, "smint_reduce_int64");
}
SMINT_EXPORT void smint_reduce(void* data, int64_t count, size_t element, smint_type type, smint_operator op,
                               const char* place) {
  hiroba::Memory& memory = hiroba::process_memory("smint_reduce");
  hiroba::require_all_ranks("a reduction");
  Type of = Type::int32;
  hiroba::Op with = hiroba::Op::add;
  if (count < 0 || !find_type(type, element, of) || !find_operator(op, with))
    hiroba::end_job(1, "%s: reduction of %lld elements of %zu bytes, type %d, by operator %d: there is no such thing",
                    place, static_cast<long long>(count), element, static_cast<int>(type), static_cast<int>(op));
  hiroba::Combine combine;
  hiroba::require_at(hiroba::Combine::make(of, with, combine), place);
  hiroba::require_unused({"a reduction", place, "its data", data, static_cast<size_t>(count) * element, true});
  hiroba::require_at(memory.collective().teams().reduce(Team::all(memory.job().nranks), static_cast<char*>(data), count,
                                                        combine, {"smint_reduce", place}),
                     place);
}

SMINT_EXPORT void smint_copy(void* data, size_t bytes, const char* place) {
  hiroba::Memory& memory = hiroba::process_memory("single copy");
  hiroba::require_all_ranks("single copy");
  const std::string name = hiroba::format("single copy of %zu bytes at %s", bytes, place);
  std::vector<char> copy(static_cast<char*>(data), static_cast<char*>(data) + bytes);  // `data` may be shared memory
  hiroba::require_at(memory.collective().teams().broadcast(Team::all(memory.job().nranks), 0, copy.data(), bytes,
                                                           {name.c_str(), place}),
                     place);
  if (memory.job().rank != 0) std::copy(copy.begin(), copy.end(), static_cast<char*>(data));
}
