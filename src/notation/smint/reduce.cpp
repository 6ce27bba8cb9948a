// Reductions over ranks, in rank order, for all operators of C that OpenMP has.
#include <algorithm>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/record/record.hpp"
#include "notation/smint/smint_process.hpp"
#include "notation/sms/reduce.hpp"
#include "smint.h"

namespace hiroba {

namespace {

bool find_operator(smint_operator op, Op& found) {
  constexpr Op all[] = {Op::add,    Op::mul,     Op::min,         Op::max,       Op::bit_and,
                        Op::bit_or, Op::bit_xor, Op::logical_and, Op::logical_or};
  if (op < SMINT_SUM || op > SMINT_OR) return false;
  found = all[op];
  return true;
}

template <typename T>
T reduce(T value, smint_operator op, const char* call) {
  Op with = Op::add;
  if (!find_operator(op, with)) end_job(1, "%s: there is no operator %d", call, static_cast<int>(op));
  return reduce_value(value, with, call);
}

// Finds the type in which C computes with elements of this kind and size; false if there is none.
bool find_type(smint_type kind, size_t element, Type& type) {
  for (int i = static_cast<int>(Type::int8); i < types; ++i) {
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

Combine combine_of(const smint_reduction& reduction, const char* place) {
  Type of = Type::int32;
  Op with = Op::add;
  if (reduction.count < 0 || !find_type(reduction.type, reduction.element, of) || !find_operator(reduction.op, with))
    end_job(1, "%s: reduction of %ld elements of %zu bytes, type %d, by operator %d: there is no such thing", place,
            reduction.count, reduction.element, static_cast<int>(reduction.type), static_cast<int>(reduction.op));
  Combine combine;
  require_at(Combine::make(of, with, combine), place);
  return combine;
}

SMINT_EXPORT double smint_reduce_double(double value, smint_operator op) {
  const RecordedCall recorded;
  return reduce(value, op, "smint_reduce_double");
}
SMINT_EXPORT int64_t smint_reduce_int64(int64_t value, smint_operator op) {
  const RecordedCall recorded;
  return reduce(value, op, "smint_reduce_int64");
}
SMINT_EXPORT void smint_reduce(void* data, int64_t count, size_t element, smint_type type, smint_operator op,
                               const char* place) {
  const RecordedCall recorded;
  Memory& memory = process_memory("smint_reduce");
  require_all_ranks("a reduction");
  const Combine combine = combine_of({data, count, element, type, op}, place);
  require_unused({"a reduction", place, "its data", data, static_cast<size_t>(count) * element, true});
  require_at(memory.collective().teams().reduce(Team::all(memory.job().nranks), static_cast<char*>(data), count,
                                                combine, {"smint_reduce", place}),
             place);
}

SMINT_EXPORT void smint_copy(void* data, size_t bytes, const char* place) {
  const RecordedCall recorded;
  Memory& memory = process_memory("single copy");
  require_all_ranks("single copy");
  const std::string name = format("single copy of %zu bytes at %s", bytes, place);
  std::vector<char> copy(static_cast<char*>(data), static_cast<char*>(data) + bytes);  // `data` may be shared memory
  require_at(memory.collective().teams().broadcast(Team::all(memory.job().nranks), 0, copy.data(), bytes,
                                                   {name.c_str(), place}),
             place);
  if (memory.job().rank != 0) std::copy(copy.begin(), copy.end(), static_cast<char*>(data));
}

}  // namespace hiroba
