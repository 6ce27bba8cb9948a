// Rows of entries in memory, as CSR or SELL-C-sigma, and their product with a vector by the threads of this rank.
//
// Owner: a matrix, which has the memory. Immutable once placed. Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sparse/kernels.hpp"
#include "sparse/rows.hpp"

namespace hiroba {

enum class Format { automatic, csr, sell };

// Entries of rows before they are stored; row i is the result to[i].
template <typename T>
struct LocalRows : RowEntries<int32_t, T> {
  std::vector<int32_t> to;
};

template <typename T>
class SparseBlock {
 public:
  // Chooses the format if it is automatic: SELL unless it adds too many zeros.
  static SparseBlock make(LocalRows<T> rows, Format format);
  size_t bytes() const;
  // Stores it in `memory`: bytes() of it, at a multiple of 64.
  void place(char* memory);

  void multiply(const T* x, T* y, bool add) const;
  // Returns the entries in the order of rows.
  LocalRows<T> entries() const;

  Format format() const { return sell_ ? Format::sell : Format::csr; }
  int64_t stored() const { return stored_; }  // entries, including the zeros of SELL

 private:
  static SparseBlock as_sell(const LocalRows<T>& rows, const std::vector<int32_t>& order);
  void clear_empty(T* y) const;

  bool sell_ = false;
  int64_t rows_ = 0, stored_ = 0;  // rows: stored rows
  bool identity_ = false;          // row i is result i
  LocalRows<T> waiting_;           // until place()
  std::vector<int32_t> length_;    // of SELL: entries of each stored row
  std::vector<int32_t> empty_;     // of SELL: results of rows without entries, which are not stored; ascending
  SparseRows<T> placed_;
};

}  // namespace hiroba
