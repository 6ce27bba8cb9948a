// Operations on memory that this process reaches, by the threads of this rank: on private memory as a whole, and a
// rank's part of an operation on shared memory. Vectors as in strided.hpp; matrices are rows of consecutive elements.
//
// Pure, except for the threads (threads.hpp). Results do not depend on the number of threads.
#pragma once

#include <memory>
#include <new>

#include "linear/strided.hpp"
#include "linear/threads.hpp"

namespace hiroba {

// A buffer that the next call reuses. For one thread.
class Scratch {
 public:
  template <typename T>
  T* take(int64_t count) {
    const auto bytes = static_cast<size_t>(count) * sizeof(T);
    if (bytes > bytes_) {
      memory_.reset(static_cast<char*>(::operator new[](bytes, line)));
      bytes_ = bytes;
    }
    return reinterpret_cast<T*>(memory_.get());
  }

 private:
  static constexpr std::align_val_t line{64};
  struct Free {
    void operator()(char* memory) const { ::operator delete[](memory, line); }
  };
  std::unique_ptr<char[], Free> memory_;
  size_t bytes_ = 0;
};

template <typename T>
constexpr int64_t line_elements = 64 / sizeof(T);  // two threads write into different cache lines

template <typename T>
void axpy_by_threads(int64_t n, T a, const T* x, int64_t x_step, T* y, int64_t y_step) {
  in_parts(n, 2 * n * static_cast<int64_t>(sizeof(T)), 8 * line_elements<T>, [&](int64_t begin, int64_t end) {
    axpy(end - begin, a, x + begin * x_step, x_step, y + begin * y_step, y_step);
  });
}

template <typename T>
void copy_by_threads(int64_t n, const T* x, int64_t x_step, T* y, int64_t y_step) {
  in_parts(n, 2 * n * static_cast<int64_t>(sizeof(T)), 8 * line_elements<T>, [&](int64_t begin, int64_t end) {
    copy(end - begin, x + begin * x_step, x_step, y + begin * y_step, y_step);
  });
}

template <typename T>
void scal_by_threads(int64_t n, T a, T* x, int64_t step, bool clears) {
  in_parts(n, n * static_cast<int64_t>(sizeof(T)), 8 * line_elements<T>,
           [&](int64_t begin, int64_t end) { scal(end - begin, a, x + begin * step, step, clears); });
}

// Computes sums[b] = of_block(b) for all blocks of a vector of elements of `bytes` bytes.
template <typename Value, typename OfBlock>
void sum_blocks(const SumBlocks& blocks, int64_t bytes, Value* sums, const OfBlock& of_block) {
  in_parts(blocks.count, blocks.n * bytes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) sums[b] = of_block(b);
  });
}

// Returns the sum over a whole vector, or a pair of them; Sum is one of strided.hpp.
template <typename Sum, typename T>
typename Sum::Value sum_of(int64_t n, const T* x, int64_t x_step, const T* y, int64_t y_step) {
  const SumBlocks blocks(n);
  if (blocks.count <= 1) return Sum::of(n, x, x_step, y, y_step);
  typename Sum::Value sums[SumBlocks::most_blocks];
  sum_blocks(blocks, sizeof(T), sums, [&](int64_t b) {
    const int64_t i = blocks.begin(b);
    return Sum::of(blocks.end(b) - i, x + i * x_step, x_step, y + i * y_step, y_step);
  });
  add_by_pairs(sums, blocks.count);
  return sums[0];
}

// Parts of a product of a matrix, or of its transpose, with a vector: result += alpha op(A) x.
template <typename T>
struct Product {
  bool transposed, conjugate;
  T alpha;
  const T* a;
  int64_t lda, rows, columns;
  const T* x;  // consecutive; times alpha, if transposed

  int64_t results() const { return transposed ? columns : rows; }
  int64_t terms() const { return transposed ? rows : columns; }

  // Adds terms [from, to) of the results [begin, end).
  void add(int64_t begin, int64_t end, int64_t from, int64_t to, T* result) const {
    if (transposed)
      return hiroba::axpys(to - from, end - begin, a + from * lda + begin, lda, x + from, conjugate, result + begin);
    constexpr int64_t strip = 131072 / sizeof(T);  // of x, which stays in the second-level cache
    constexpr int64_t group = 64;
    Products<Real<T>> products[group];
    for (int64_t j = from; j < to; j += strip)
      for (int64_t i = begin; i < end; i += group) {
        const int64_t count = std::min(group, end - i);
        hiroba::dots(count, std::min(strip, to - j), a + i * lda + j, lda, x + j, products);
        for (int64_t k = 0; k < count; ++k) result[i + k] += times(alpha, value_of<T>(products[k], conjugate));
      }
  }
};

// Computes the whole product. Threads share the terms of few results with many terms; `all_results` is the number of
// results of the whole operation, of which this may be a part: the order of the terms depends on that alone.
template <typename T>
void multiply(const Product<T>& product, int64_t all_results, T* result, Scratch& scratch) {
  constexpr int64_t few = 512, least = 1024, most_chunks = 64;
  const int64_t results = product.results(), terms = product.terms();
  const int64_t bytes = results * terms * static_cast<int64_t>(sizeof(T));
  const int64_t size = std::max(least, (terms + most_chunks - 1) / most_chunks), chunks = (terms + size - 1) / size;
  if (all_results >= few || chunks < 2) {
    in_parts(results, bytes, 8 * line_elements<T>,
             [&](int64_t begin, int64_t end) { product.add(begin, end, 0, terms, result); });
    return;
  }
  T* const sums = scratch.take<T>(chunks * results);
  in_parts(chunks, bytes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      std::fill_n(sums + c * results, results, T(0));
      product.add(0, results, c * size, std::min(terms, (c + 1) * size), sums + c * results);
    }
  });
  for (int64_t distance = 1; distance < chunks; distance *= 2)
    for (int64_t c = 0; c + distance < chunks; c += 2 * distance)
      add(results, sums + (c + distance) * results, sums + c * results, 1);
  add(results, sums, result, 1);
}

// row i of A += u[i] v, where u and v are consecutive.
template <typename T>
void ger_by_threads(int64_t rows, int64_t columns, const T* u, const T* v, T* a, int64_t lda) {
  in_parts(rows, rows * columns * static_cast<int64_t>(sizeof(T)), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) hiroba::axpy(columns, u[i], v, a + i * lda);
  });
}

}  // namespace hiroba
