// Vectors of this rank's parts: memory for them, and sums over all ranks. A pass of several operations reads memory
// once. Results have the same bits for any number of threads.
//
// Values. Sums are collective, except for those that say otherwise.
#pragma once

#include <span>
#include <vector>

#include "sparse/sparse.hpp"

namespace hiroba {

// Memory of several vectors of n elements, initially zeros.
template <typename T>
class Workspace {
 public:
  Workspace(int64_t n, int count);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  T* operator[](int i) const { return memory_ + i * step_; }

 private:
  int64_t step_;
  size_t bytes_;
  T* memory_;
};

// Returns an element of a random vector, from -1 to 1, determined by its number and the seed (splitmix64): so vectors
// are the same for any number of ranks.
template <typename T>
T random_element(uint64_t seed, int64_t number) {
  const auto mixed = [](uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return static_cast<Real<T>>(static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1);
  };
  const uint64_t place = seed * 0xd1342543de82ef95U + 2 * static_cast<uint64_t>(number);
  if constexpr (is_complex<T>) return T(mixed(place), mixed(place + 1));
  else return mixed(place);
}

// Elements that several operations process while they are in the cache.
constexpr int64_t strip_bytes = 16384;
template <typename T>
constexpr int64_t strip = strip_bytes / sizeof(T);

// Calls work(begin, count) for all strips of n elements, by the threads; it touches `bytes` bytes per element.
template <typename T, typename Work>
void in_strips(int64_t n, int64_t bytes, const Work& work, int64_t length = strip<T>) {
  in_parts(n, n * bytes, length, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += length) work(i, std::min(length, end - i));
  });
}

// Returns the sum of work(begin, count) for all strips, in a fixed order. Value has += and begins as {}.
template <typename Value, typename T, typename Work>
Value sum_strips(int64_t n, int64_t bytes, const Work& work) {
  const SumBlocks blocks(n);
  Value sums[SumBlocks::most_blocks] = {};
  sum_blocks(blocks, bytes, sums, [&](int64_t b) {
    Value out = {};
    for (int64_t i = blocks.begin(b); i < blocks.end(b); i += strip<T>)
      out += work(i, std::min(strip<T>, blocks.end(b) - i));
    return out;
  });
  add_by_pairs(sums, blocks.count);
  return sums[0];
}

// Returns conj(x) y of a strip.
template <typename T>
T strip_dot(int64_t n, const T* x, const T* y) {
  return value_of<T>(hiroba::dot(n, x, y), true);
}
// Returns conj(x) y of this rank's parts alone.
template <typename T>
T own_dot(int64_t n, const T* x, const T* y) {
  return value_of<T>(sum_of<DotSum<T>, T>(n, x, 1, y, 1), true);
}

template <typename T>
struct Vectors {
  const Ranks& ranks;
  int64_t n;  // elements of this rank

  Status dot(const T* x, const T* y, T& out) const { return dots(std::span(&x, 1), y, &out); }
  // out[k] = conj(v[k]) y, with one reduction.
  Status dots(std::span<const T* const> v, const T* y, T* out) const;
  // y += a[0] v[0] + a[1] v[1] + ..
  void combine(const T* a, std::span<const T* const> v, T* y) const {
    in_strips<T>(n, static_cast<int64_t>((v.size() + 2) * sizeof(T)), [&](int64_t i, int64_t count) {
      for (size_t k = 0; k < v.size(); ++k) hiroba::axpy(count, a[k], v[k] + i, y + i);
    });
  }
  // Returns the Euclidean norm, which neither overflows nor underflows.
  Status norm(const T* x, Real<T>& out) const;
  // Adds `count` numbers over the ranks.
  Status add(T* values, int64_t count) const {
    return ranks.add(
        std::span(reinterpret_cast<Real<T>*>(values), static_cast<size_t>(count) * (is_complex<T> ? 2 : 1)));
  }
  // y = x + b y
  void xpby(const T* x, T b, T* y) const {
    in_strips<T>(n, 3 * sizeof(T), [&](int64_t i, int64_t count) {
      hiroba::scal(count, b, y + i), hiroba::axpy(count, T(1), x + i, y + i);
    });
  }
  void axpy(T a, const T* x, T* y) const { axpy_by_threads(n, a, x, 1, y, 1); }
  void copy(const T* x, T* y) const { copy_by_threads(n, x, 1, y, 1); }
  void scal(T a, T* x) const { scal_by_threads(n, a, x, 1, true); }
};

}  // namespace hiroba
