// Types and operations by number, and compound assignments whose sides have different types.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "collective/operators/arithmetic.hpp"

namespace hiroba {

namespace {

struct TypeEntry {
  const char* name;
  size_t bytes;
};
constexpr TypeEntry type_table[types] = {{"bool", sizeof(bool)},
                                         {"int8", 1},
                                         {"uint8", 1},
                                         {"int16", 2},
                                         {"uint16", 2},
                                         {"int32", 4},
                                         {"uint32", 4},
                                         {"int64", 8},
                                         {"uint64", 8},
                                         {"float", sizeof(float)},
                                         {"double", sizeof(double)},
                                         {"long double", sizeof(long double)},
                                         {"complex float", 2 * sizeof(float)},
                                         {"complex double", 2 * sizeof(double)},
                                         {"complex long double", 2 * sizeof(long double)}};
constexpr const char* op_names[ops] = {"+",  "-",  "*",  "/",   "%",   "&",        "|",        "^",       "<<",
                                       ">>", "&&", "||", "max", "min", "firstmax", "firstmin", "lastmax", "lastmin"};

template <typename T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// As in C, a complex number loses its imaginary part, and integers wrap around.
template <typename T>
void convert_to(char* to, int64_t to_stride, const char* from, Type type, int64_t from_stride, int64_t count) {
  const auto each = [&](auto read) {
    for (int64_t i = 0; i < count; ++i) store(to + i * to_stride, static_cast<T>(read(from + i * from_stride)));
  };
  switch (type) {
    case Type::boolean: return each(load<bool>);
    case Type::int8: return each(load<int8_t>);
    case Type::uint8: return each(load<uint8_t>);
    case Type::int16: return each(load<int16_t>);
    case Type::uint16: return each(load<uint16_t>);
    case Type::int32: return each(load<int32_t>);
    case Type::uint32: return each(load<uint32_t>);
    case Type::int64: return each(load<int64_t>);
    case Type::uint64: return each(load<uint64_t>);
    case Type::float32: return each(load<float>);
    case Type::float64: return each(load<double>);
    case Type::long_double: return each(load<long double>);
    case Type::complex_float: return each([](const char* p) { return load<float>(p); });
    case Type::complex_double: return each([](const char* p) { return load<double>(p); });
    case Type::complex_long_double: return each([](const char* p) { return load<long double>(p); });
  }
}

template <typename Real>
void convert_to_complex(char* to, int64_t to_stride, const char* from, Type type, int64_t from_stride, int64_t count) {
  convert_to<Real>(to, to_stride, from, type, from_stride, count);
  const auto imaginary = [&](auto zero) {
    using Part = decltype(zero);
    for (int64_t i = 0; i < count; ++i)
      store(to + i * to_stride + sizeof(Real),
            static_cast<Real>(load<Part>(from + i * from_stride + static_cast<int64_t>(sizeof(Part)))));
  };
  if (type == Type::complex_float) return imaginary(0.0f);
  if (type == Type::complex_double) return imaginary(0.0);
  if (type == Type::complex_long_double) return imaginary(0.0L);
  for (int64_t i = 0; i < count; ++i) store(to + i * to_stride + sizeof(Real), Real(0));
}

template <typename T>
void store_limit(char* to, bool least) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) store(to, least ? -Limits::infinity() : Limits::infinity());
  else store(to, least ? Limits::lowest() : Limits::max());
}

}  // namespace

size_t bytes_of(Type type) { return type_table[static_cast<int>(type)].bytes; }
const char* name_of(Type type) { return type_table[static_cast<int>(type)].name; }
const char* name_of(Op op) { return op_names[static_cast<int>(op)]; }

void convert(char* to, Type to_type, int64_t ts, const char* from, Type type, int64_t fs, int64_t n) {
  switch (to_type) {
    case Type::boolean: return convert_to<bool>(to, ts, from, type, fs, n);
    case Type::int8: return convert_to<int8_t>(to, ts, from, type, fs, n);
    case Type::uint8: return convert_to<uint8_t>(to, ts, from, type, fs, n);
    case Type::int16: return convert_to<int16_t>(to, ts, from, type, fs, n);
    case Type::uint16: return convert_to<uint16_t>(to, ts, from, type, fs, n);
    case Type::int32: return convert_to<int32_t>(to, ts, from, type, fs, n);
    case Type::uint32: return convert_to<uint32_t>(to, ts, from, type, fs, n);
    case Type::int64: return convert_to<int64_t>(to, ts, from, type, fs, n);
    case Type::uint64: return convert_to<uint64_t>(to, ts, from, type, fs, n);
    case Type::float32: return convert_to<float>(to, ts, from, type, fs, n);
    case Type::float64: return convert_to<double>(to, ts, from, type, fs, n);
    case Type::long_double: return convert_to<long double>(to, ts, from, type, fs, n);
    case Type::complex_float: return convert_to_complex<float>(to, ts, from, type, fs, n);
    case Type::complex_double: return convert_to_complex<double>(to, ts, from, type, fs, n);
    case Type::complex_long_double: return convert_to_complex<long double>(to, ts, from, type, fs, n);
  }
}

Status Arithmetic::make(int to, int values, int op, Arithmetic& out) {
  if (to < 0 || to >= types || values < 0 || values >= types)
    return Status::error(
        format("type %d does not exist; use the XMP_ types of xmp.h", to < 0 || to >= types ? to : values));
  if (op < 0 || op >= ops)
    return Status::error(format("operator %d does not exist; use the XMP_ operators of xmp.h", op));
  out.to_ = static_cast<Type>(to), out.values_ = static_cast<Type>(values), out.op_ = static_cast<Op>(op);
  out.apply_ = find_apply(out.values_, out.op_);
  if (out.apply_ != nullptr) return {};
  return Status::error(format("operator %s does not exist for %s", name_of(out.op_), name_of(out.values_)));
}

void Arithmetic::apply(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) const {
  if (to_ == values_) apply_(to, to_stride, from, from_stride, count);
  else apply_mixed(to, to_stride, from, from_stride, count);
}

void Arithmetic::apply_mixed(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) const {
  constexpr int64_t most = 64;
  alignas(16) char values[most * 2 * sizeof(long double)];
  const auto bytes = static_cast<int64_t>(bytes_of(values_));
  for (int64_t done = 0; done < count; done += most) {
    const int64_t part = std::min(most, count - done);
    char* const at = to + done * to_stride;
    convert(values, values_, bytes, at, to_, to_stride, part);
    apply_(values, bytes, from + done * from_stride, from_stride, part);
    convert(at, to_, to_stride, values, values_, bytes, part);
  }
}

bool Arithmetic::forbids(const char* value) const {
  int64_t divisor = 0;
  convert(reinterpret_cast<char*>(&divisor), Type::int64, 0, value, values_, 0, 1);
  return divisor == 0;
}

bool Arithmetic::prefers(const char* theirs, const char* mine) const {
  const bool last = op_ == Op::last_max || op_ == Op::last_min;
  const bool max = op_ == Op::first_max || op_ == Op::last_max;
  const size_t bytes = bytes_of(to_);
  if (std::memcmp(theirs, mine, bytes) == 0) return last;
  // mine = mine op theirs: the result shows the winner; equal values of different bits (0.0 and -0.0) count as equal.
  alignas(16) char winner[2 * sizeof(long double)], reverse[2 * sizeof(long double)];
  const Apply better = find_apply(to_, max ? Op::max : Op::min);
  std::memcpy(winner, mine, bytes), std::memcpy(reverse, theirs, bytes);
  better(winner, 0, theirs, 0, 1);
  better(reverse, 0, mine, 0, 1);
  const bool theirs_won = std::memcmp(winner, theirs, bytes) == 0, mine_won = std::memcmp(reverse, mine, bytes) == 0;
  if (theirs_won) return true;
  return !mine_won && last;  // neither is better than the other
}

void store_neutral(Type type, Op op, char* value) {
  if (op != Op::max && op != Op::min) {
    const int64_t neutral = op == Op::mul || op == Op::logical_and ? 1 : op == Op::bit_and ? -1 : 0;
    return convert(value, type, 0, reinterpret_cast<const char*>(&neutral), Type::int64, 0, 1);
  }
  const bool least = op == Op::max;
  switch (type) {
    case Type::boolean: return store_limit<bool>(value, least);
    case Type::int8: return store_limit<int8_t>(value, least);
    case Type::uint8: return store_limit<uint8_t>(value, least);
    case Type::int16: return store_limit<int16_t>(value, least);
    case Type::uint16: return store_limit<uint16_t>(value, least);
    case Type::int32: return store_limit<int32_t>(value, least);
    case Type::uint32: return store_limit<uint32_t>(value, least);
    case Type::int64: return store_limit<int64_t>(value, least);
    case Type::uint64: return store_limit<uint64_t>(value, least);
    case Type::float32: return store_limit<float>(value, least);
    case Type::float64: return store_limit<double>(value, least);
    case Type::long_double: return store_limit<long double>(value, least);
    default: return;  // complex numbers have no order
  }
}

}  // namespace hiroba
