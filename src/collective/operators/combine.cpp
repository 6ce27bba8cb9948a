#include "collective/operators/combine.hpp"

#include <algorithm>
#include <cstring>

#include "collective/operators/exact.hpp"

namespace hiroba {

Status Combine::make(Type type, Op op, Combine& out) {
  return Arithmetic::make(static_cast<int>(type), static_cast<int>(type), static_cast<int>(op), out.arithmetic);
}

void Combine::operator()(char* mine, const char* theirs, int64_t count) const {
  if (function != nullptr) return function(mine, theirs, count, context);
  const auto stride = static_cast<int64_t>(element());
  if (record == 0) return arithmetic.apply(mine, stride, theirs, stride, count);
  for (; count > 0; --count, mine += stride, theirs += stride)
    if (arithmetic.prefers(theirs, mine)) std::memcpy(mine, theirs, record);
}

void Combine::make_exact() {
  exact = function == nullptr && record == 0 && arithmetic.op() == Op::add &&
          (arithmetic.to() == Type::float32 || arithmetic.to() == Type::float64);
}

void Combine::alone(char* data, int64_t count) const {
  if (function != nullptr || record != 0) return;
  if (arithmetic.op() != Op::logical_and && arithmetic.op() != Op::logical_or) return;
  alignas(std::max_align_t) char neutral[sizeof(__complex__ long double)];
  store_neutral(arithmetic.to(), arithmetic.op(), neutral);
  arithmetic.apply(data, static_cast<int64_t>(element()), neutral, 0, count);
}

void Combine::all(char* into, std::span<const char* const> pieces, size_t bytes) const {
  if (exact && arithmetic.to() == Type::float64)
    return add_exactly(reinterpret_cast<double*>(into), pieces.data(), pieces.size(), bytes / sizeof(double));
  if (exact) return add_exactly(reinterpret_cast<float*>(into), pieces.data(), pieces.size(), bytes / sizeof(float));
  constexpr size_t at_once = size_t{16} << 10;  // stays in the first cache
  const size_t step = std::max(at_once / element(), size_t{1}) * element();
  for (size_t at = 0; at < bytes; at += step) {
    const size_t part = std::min(step, bytes - at);
    if (pieces[0] != into) std::memcpy(into + at, pieces[0] + at, part);
    for (size_t i = 1; i < pieces.size(); ++i)
      (*this)(into + at, pieces[i] + at, static_cast<int64_t>(part / element()));
    if (pieces.size() == 1) alone(into + at, static_cast<int64_t>(part / element()));
  }
}

}  // namespace hiroba
