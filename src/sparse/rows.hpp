// The division of an operator's rows, and of its vectors' elements: each rank has consecutive ones, in the order of
// ranks; a rank may have none. Values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "base/division.hpp"

namespace hiroba {

constexpr int64_t most_rows = std::numeric_limits<int32_t>::max();  // of a rank; and elements of others that it uses

// The entries of consecutive rows: row i has [begin(i), begin(i + 1)).
template <typename Column, typename T>
struct RowEntries {
  std::vector<int64_t> start = {0};
  std::vector<Column> column;
  std::vector<T> value;

  int64_t rows() const { return std::ssize(start) - 1; }
  size_t begin(int64_t row) const { return static_cast<size_t>(start[row]); }
  size_t end(int64_t row) const { return begin(row + 1); }
};

// Returns the first of the rows before which there are `goal` entries and rows, or more.
inline int64_t row_at(const int64_t* start, int64_t rows, int64_t goal) {
  int64_t low = 0, high = rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (start[middle] + middle < goal) low = middle + 1;
    else high = middle;
  }
  return low;
}

struct Rows {
  std::vector<int64_t> cuts = {0};  // rank r has [cuts[r], cuts[r + 1])

  int64_t count() const { return cuts.back(); }
  int ranks() const { return static_cast<int>(cuts.size()) - 1; }
  int64_t begin(int rank) const { return cuts[rank]; }
  int64_t end(int rank) const { return cuts[static_cast<size_t>(rank) + 1]; }
  int64_t of(int rank) const { return end(rank) - begin(rank); }
  int owner(int64_t row) const {
    return static_cast<int>(std::upper_bound(cuts.begin(), cuts.end() - 1, row) - cuts.begin()) - 1;
  }
  bool operator==(const Rows&) const = default;

  // Divides n rows as sms_mapalloc divides one dimension.
  static Rows equal(int64_t n, int ranks) {
    Rows out;
    const int64_t block = block_width(n, ranks);
    for (int r = 1; r <= ranks; ++r) out.cuts.push_back(std::min(n, r * block));
    return out;
  }
};

}  // namespace hiroba
