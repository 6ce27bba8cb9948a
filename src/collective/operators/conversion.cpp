// Types and operations by number, and compound assignments whose sides have different types.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "collective/operators/arithmetic.hpp"

namespace hiroba {

namespace {

constexpr const char* type_names[types] = {"bool",          "int8",           "uint8",
                                           "int16",         "uint16",         "int32",
                                           "uint32",        "int64",          "uint64",
                                           "float",         "double",         "long double",
                                           "complex float", "complex double", "complex long double"};
template <size_t... i>
constexpr std::array<size_t, types> sizes(std::index_sequence<i...>) {
  return {sizeof(std::tuple_element_t<i, TypeTable>)...};
}
constexpr std::array<size_t, types> type_bytes = sizes(std::make_index_sequence<types>());
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

// The type of a number's real part.
template <typename T>
struct Real {
  using Part = T;
};
template <>
struct Real<__complex__ float> {
  using Part = float;
};
template <>
struct Real<__complex__ double> {
  using Part = double;
};
template <>
struct Real<__complex__ long double> {
  using Part = long double;
};

// As in C, a complex number loses its imaginary part, and integers wrap around.
template <typename To, typename From>
void convert_row(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) {
  using Out = typename Real<To>::Part;
  using In = typename Real<From>::Part;
  for (int64_t i = 0; i < count; ++i) {
    char* const target = to + i * to_stride;
    const char* const source = from + i * from_stride;
    store(target, static_cast<Out>(load<In>(source)));
    if constexpr (sizeof(To) > sizeof(Out)) {
      Out imaginary = 0;
      if constexpr (sizeof(From) > sizeof(In)) imaginary = static_cast<Out>(load<In>(source + sizeof(In)));
      store(target + sizeof(Out), imaginary);
    }
  }
}

template <typename T>
void store_limit(char* to, bool least) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) store(to, least ? -Limits::infinity() : Limits::infinity());
  else store(to, least ? Limits::lowest() : Limits::max());
}

}  // namespace

size_t bytes_of(Type type) { return type_bytes[static_cast<size_t>(type)]; }
const char* name_of(Type type) { return type_names[static_cast<int>(type)]; }
const char* name_of(Op op) { return op_names[static_cast<int>(op)]; }

void convert(char* to, Type to_type, int64_t ts, const char* from, Type type, int64_t fs, int64_t n) {
  with_type(to_type, [&]<typename To>() {
    with_type(type, [&]<typename From>() { convert_row<To, From>(to, ts, from, fs, n); });
  });
}

Status Arithmetic::make(int to, int values, int op, Arithmetic& out) {
  if (to < 0 || to >= types || values < 0 || values >= types)
    return Status::error("type %d does not exist", to < 0 || to >= types ? to : values);
  if (op < 0 || op >= ops) return Status::error("operator %d does not exist", op);
  out.to_ = static_cast<Type>(to), out.values_ = static_cast<Type>(values), out.op_ = static_cast<Op>(op);
  out.apply_ = find_apply(out.values_, out.op_);
  if (out.apply_ != nullptr) return {};
  return Status::error("operator %s does not exist for %s", name_of(out.op_), name_of(out.values_));
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
  with_type(type, [&]<typename T>() {  // complex numbers have no order
    if constexpr (sizeof(T) == sizeof(typename Real<T>::Part)) store_limit<T>(value, op == Op::max);
  });
}

}  // namespace hiroba
