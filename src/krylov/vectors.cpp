#include "krylov/vectors.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hiroba {

namespace {
constexpr size_t huge = size_t{2} << 20;
}

template <typename T>
Workspace<T>::Workspace(int64_t n, int count)
    : step_((n + line_elements<T> - 1) / line_elements<T> * line_elements<T> + line_elements<T>),
      bytes_((static_cast<size_t>(step_) * sizeof(T) * static_cast<size_t>(count) + 63) / 64 * 64) {
  const bool large = bytes_ >= 2 * huge;
  if (large) bytes_ = (bytes_ + huge - 1) / huge * huge;
  memory_ = static_cast<T*>(::operator new[](bytes_, std::align_val_t(large ? huge : 64)));
  if (large) madvise(memory_, bytes_, MADV_HUGEPAGE);
  in_parts(step_ * count, static_cast<int64_t>(bytes_), line_elements<T>, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<void*>(memory_ + begin), 0, static_cast<size_t>(end - begin) * sizeof(T));
  });
}

template <typename T>
Workspace<T>::~Workspace() {
  ::operator delete[](memory_, std::align_val_t(bytes_ >= 2 * huge ? huge : 64));
}

template <typename T>
Status Vectors<T>::dots(std::span<const T* const> v, const T* y, T* out) const {
  constexpr int most = 8;  // vectors for which y is read once
  using Sums = Numbers<T, most>;
  for (size_t first = 0; first < v.size(); first += most) {
    const size_t here = std::min<size_t>(most, v.size() - first);
    const auto bytes = static_cast<int64_t>((here + 1) * sizeof(T));
    const auto sums = sum_strips<Sums, T>(n, bytes, [&](int64_t i, int64_t count) {
      Sums some;
      for (size_t k = 0; k < here; ++k) some.value[k] = strip_dot(count, v[first + k] + i, y + i);
      return some;
    });
    std::copy_n(sums.value, here, out + first);
  }
  return add(out, std::ssize(v));
}

template <typename T>
Status Vectors<T>::norm(const T* x, Real<T>& out) const {
  Squares<Real<T>> sum = sum_of<SquareSum<T>, T>(n, x, 1, x, 1);
  HIROBA_TRY(ranks.add(std::span(&sum.big, 3)));
  out = sum.root();
  return {};
}

#define HIROBA_INSTANTIATE(T)  \
  template class Workspace<T>; \
  template struct Vectors<T>;
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
