// Compound assignments and reductions: `to = to op from` over rows of elements, for all arithmetic types of C. Pure
// functions; safe anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "base/status.hpp"

namespace hiroba {

// The order is that of xmp.h; src/notation/xmp passes the numbers on.
enum class Type : uint8_t {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  long_double,
  complex_float,
  complex_double,
  complex_long_double
};
constexpr int types = 15;

// The table of types: what a Type is in C++, in the order of Type.
using TypeTable = std::tuple<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float,
                             double, long double, __complex__ float, __complex__ double, __complex__ long double>;
static_assert(std::tuple_size_v<TypeTable> == types);

// Calls visit.operator()<T>() with the type of that number.
template <typename Visit, size_t i = 0>
auto with_type(Type type, const Visit& visit) {
  if constexpr (i + 1 < types)
    if (static_cast<size_t>(type) != i) return with_type<Visit, i + 1>(type, visit);
  return visit.template operator()<std::tuple_element_t<i, TypeTable>>();
}

template <typename T, size_t i = 0>
constexpr Type type_for() {
  if constexpr (std::is_same_v<T, std::tuple_element_t<i, TypeTable>>) return static_cast<Type>(i);
  else return type_for<T, i + 1>();
}

enum class Op : uint8_t {
  add,
  sub,
  mul,
  div,
  mod,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  shr,
  logical_and,
  logical_or,
  max,
  min,
  first_max,
  first_min,
  last_max,
  last_min
};
constexpr int ops = 18;

// The operators of reductions, in the order of collective.h.
constexpr int reductions = 9;
constexpr Op reduction_op[reductions] = {Op::add,        Op::mul,     Op::max,    Op::min,    Op::logical_and,
                                         Op::logical_or, Op::bit_and, Op::bit_or, Op::bit_xor};

size_t bytes_of(Type type);
const char* name_of(Type type);
const char* name_of(Op op);

// Strides are in bytes; from_stride 0 means one value for all.
using Apply = void (*)(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count);

// An operation on elements of one type with values of another. It computes in `values` (the common type of C).
class Arithmetic {
 public:
  // Fails for operations that C does not have, as the remainder of doubles.
  static Status make(int to, int values, int op, Arithmetic& out);
  Type to() const { return to_; }
  Type values() const { return values_; }
  Op op() const { return op_; }
  void apply(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) const;
  // forbids() returns true for a divisor of 0. may_forbid() returns true if such values exist.
  bool may_forbid() const { return (op_ == Op::div || op_ == Op::mod) && values_ <= Type::uint64; }
  bool forbids(const char* value) const;
  // For first_max and its like: returns true if `theirs`, of a later rank, replaces `mine`.
  bool prefers(const char* theirs, const char* mine) const;

 private:
  void apply_mixed(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) const;

  Type to_ = Type::int32, values_ = Type::int32;
  Op op_ = Op::add;
  Apply apply_ = nullptr;  // on elements of type values_
};

// Stores the initial value of a reduction: combined with any x it gives x.
void store_neutral(Type type, Op op, char* value);

// These are shared by arithmetic.cpp and conversion.cpp.
Apply find_apply(Type type, Op op);  // null if C does not have it
// Converts `count` elements of one type to another, with the given strides in bytes.
void convert(char* to, Type to_type, int64_t to_stride, const char* from, Type from_type, int64_t from_stride,
             int64_t count);

}  // namespace hiroba
