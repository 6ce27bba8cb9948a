// Entries of a matrix before they are stored: they go from any rank to the one that has the row, and are sorted; equal
// ones are added, and the rows divided by their number of entries.
//
// Values, and collective functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sparse/ranks.hpp"
#include "sparse/rows.hpp"

namespace hiroba {

template <typename T>
struct MatrixEntry {
  int64_t row, column;
  T value;
};

// Rows from `first` on, their entries by ascending columns.
template <typename T>
struct RowPiece : RowEntries<int64_t, T> {
  int64_t first = 0;

  // Adds a row, of entries or parts of such, which it sorts; it adds up those in the same column.
  template <typename One>
  void add_row(std::span<One> row) {
    std::stable_sort(row.begin(), row.end(), [](const One& a, const One& b) { return a.column < b.column; });
    for (size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].column == row[k - 1].column) this->value.back() += row[k].value;
      else this->column.push_back(row[k].column), this->value.push_back(row[k].value);
    }
    this->start.push_back(std::ssize(this->column));
  }
};

// Returns the rows of this rank; entries at the same place are added, in the order of the ranks that had them.
template <typename T>
Status collect(const Ranks& ranks, const Rows& rows, const std::vector<MatrixEntry<T>>& entries, RowPiece<T>& out);

// Divides rows so that ranks have nearly equal numbers of entries. If ranks have many rows, cuts are multiples of
// `aligned_rows`, so that a page of a vector has one owner.
constexpr int64_t aligned_rows = 1024;
template <typename T>
Status divide_by_entries(const Ranks& ranks, int64_t n, const RowPiece<T>& piece, Rows& out);
// Moves rows from the division of `piece` to another one.
template <typename T>
Status move_rows(const Ranks& ranks, const Rows& rows, RowPiece<T>& piece);

enum class Symmetry { none, symmetric, hermitian, skew };
// Adds the entries of the other triangle.
template <typename T>
void mirror(Symmetry symmetry, std::vector<MatrixEntry<T>>& entries);
// Returns an error that names an entry without its counterpart, if there is one in the rows of this rank.
template <typename T>
Status check_symmetry(const Ranks& ranks, const Rows& rows, Symmetry symmetry, const RowPiece<T>& piece);

}  // namespace hiroba
