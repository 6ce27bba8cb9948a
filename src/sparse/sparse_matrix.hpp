// A sparse square matrix whose rows are divided over the ranks. Each rank's rows are in its part of a shared array: the
// block of its own columns, and the block of the columns of others, whose elements are received once per product.
//
// Owner: its creator; release() frees the memory. Creation, products and release are collective.
#pragma once

#include <memory>

#include "sparse/block.hpp"
#include "sparse/entries.hpp"
#include "sparse/halo.hpp"
#include "sparse/operator.hpp"

namespace hiroba {

struct MatrixFacts {
  int64_t rows = 0, entries = 0;
  int64_t stored = 0;   // on this rank, including the zeros of its format
  int64_t fetched = 0;  // elements of others that this rank gets in each product
  bool sell = false;    // the format of this rank's own columns
};

template <typename T>
class SparseMatrix final : public Operator<T> {
 public:
  // Makes the matrix from the rows of this rank.
  static Status make(const Ranks& ranks, const Rows& rows, const RowPiece<T>& piece, Format format,
                     std::unique_ptr<SparseMatrix>& out);

  const Rows& rows() const override { return rows_; }
  std::string what() const override { return format("matrix of %ld rows", rows_.count()); }
  Status apply(const Ranks& ranks, const T* x, T* y) override;
  Status release(const Ranks& ranks) override;

  const MatrixFacts& facts() const { return facts_; }
  // Returns the entries in this rank's rows and columns, counted from its first; rows in order, columns ascending.
  LocalRows<T> own_block() const { return own_.entries(); }
  // Returns the other entries of its rows, if any; columns are counted among those that it uses of other ranks.
  LocalRows<T> others_block() const { return others_.entries(); }

 private:
  Rows rows_;
  SparseBlock<T> own_, others_;
  std::vector<int64_t> needed_;  // columns of others
  Halo<T> halo_;
  void* memory_ = nullptr;
  MatrixFacts facts_;
};

}  // namespace hiroba
