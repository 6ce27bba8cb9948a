// The closed formula that gives the rank that owns an element of a shared array.
//
// Dimension d of dim[d] elements is cut into div[d] pieces of block[d] = ceil(dim[d] / div[d]) elements (XcalableMP's
// block rule; the last pieces may be shorter or empty). Pieces are counted in C order; rank first + k owns piece k.
// Immutable after make(); safe anywhere, also in a signal handler.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/shown.hpp"
#include "base/status.hpp"

namespace hiroba {

struct Range {
  int64_t base = 0, length = 0, step = 1;
};

class Distribution {
 public:
  static constexpr int max_dims = 8;

  // Distributes over `count` ranks from `first`, of `nranks`. Fails with a message if the arguments are wrong.
  static Status make(std::span<const int64_t> dim, std::span<const int64_t> div, uint64_t element_bytes, int first,
                     int count, int nranks, Distribution& out);
  // Distributes one dimension: rank k owns elements [cuts[k], cuts[k + 1]), which may be none. There is a piece for
  // each rank.
  static Status make_cut(std::span<const int64_t> cuts, uint64_t element_bytes, int nranks, Distribution& out);

  int dims() const { return dims_; }
  int64_t dim(int d) const { return dim_[d]; }
  int64_t div(int d) const { return div_[d]; }
  int first() const { return first_; }
  uint64_t element_bytes() const { return element_bytes_; }
  uint64_t elements() const { return elements_; }
  uint64_t bytes() const { return elements_ * element_bytes_; }
  // Returns the cuts of make_cut; else an empty span.
  std::span<const int64_t> cuts() const { return cuts_ == nullptr ? std::span<const int64_t>() : *cuts_; }

  // Returns the rank that owns the element with this linear index (C order).
  [[HIROBA_SHOWN]] int owner(uint64_t element) const;

  // Returns the end of the elements from `element` on that have one owner: the end of the innermost divided block.
  [[HIROBA_SHOWN]] uint64_t owner_run_end(uint64_t element) const;

  // Returns the box of elements that `rank` owns; lengths are 0 if it owns none.
  std::array<Range, max_dims> box(int rank) const;

 private:
  int dims_ = 0;
  int innermost_ = 0;  // innermost dimension with div > 1, else 0
  int first_ = 0;
  uint64_t element_bytes_ = 1, elements_ = 0;
  std::array<int64_t, max_dims> dim_{}, div_{}, block_{};
  std::array<uint64_t, max_dims> stride_{};  // in elements
  std::shared_ptr<const std::vector<int64_t>> cuts_;
};

}  // namespace hiroba
