#include "memory/distribution.hpp"

#include <algorithm>

#include "base/division.hpp"

namespace hiroba {

Status Distribution::make(std::span<const int64_t> dim, std::span<const int64_t> div, uint64_t element_bytes, int first,
                          int count, int nranks, Distribution& out) {
  const auto n = dim.size();
  if (n == 0 || n > max_dims) return Status::error("an array has 1 to %d dimensions, not %zu", max_dims, n);
  if (div.size() != n) return Status::error("dim has %zu entries and div has %zu; both end with -1", n, div.size());
  if (element_bytes == 0 || element_bytes > (uint64_t{1} << 40))
    return Status::error("element size %lu is not in 1..2^40; was it negative?", element_bytes);
  if (first < 0 || first >= nranks || count < 1 || count > nranks - first)
    return Status::error("ranks %d..%ld do not exist: the job has ranks 0..%d", first, int64_t{first} + count - 1,
                         nranks - 1);
  Distribution d;
  d.dims_ = static_cast<int>(n);
  d.first_ = first;
  d.element_bytes_ = element_bytes;
  int64_t pieces = 1;
  uint64_t elements = 1;
  for (size_t i = n; i-- > 0;) {
    if (dim[i] < 1) return Status::error("dim[%zu] = %ld; an extent is at least 1", i, dim[i]);
    if (div[i] < 1 || div[i] > dim[i])
      return Status::error("div[%zu] = %ld does not fit dim[%zu] = %ld: pieces are 1..%ld", i, div[i], i, dim[i],
                           dim[i]);
    d.dim_[i] = dim[i], d.div_[i] = div[i], d.block_[i] = block_width(dim[i], div[i]);
    d.stride_[i] = elements;
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim[i]), &elements) ||
        __builtin_mul_overflow(pieces, div[i], &pieces))
      return Status::error("the number of elements overflows 64 bits");
  }
  if (uint64_t bytes = 0; __builtin_mul_overflow(elements, element_bytes, &bytes) || bytes > (uint64_t{1} << 62))
    return Status::error("%lu elements of %lu bytes overflow the address range; was a size negative?", elements,
                         element_bytes);
  if (pieces > count)
    return Status::error("div makes %ld pieces for %d ranks; the product of div is at most the number of ranks", pieces,
                         count);
  d.elements_ = elements;
  for (int i = 0; i < d.dims_; ++i)
    if (div[i] > 1) d.innermost_ = i;
  out = d;
  return {};
}

Status Distribution::make_cut(std::span<const int64_t> cuts, uint64_t element_bytes, int nranks, Distribution& out) {
  if (static_cast<int>(cuts.size()) != nranks + 1 || cuts.front() != 0 || !std::is_sorted(cuts.begin(), cuts.end()))
    return Status::error("%zu cuts for %d ranks; they begin with 0, ascend, and end with the extent", cuts.size(),
                         nranks);
  const int64_t extent = cuts.back(), whole = 1;
  Distribution d;
  HIROBA_TRY(make({&extent, 1}, {&whole, 1}, element_bytes, 0, 1, nranks, d));
  d.div_[0] = nranks;
  d.cuts_ = std::make_shared<std::vector<int64_t>>(cuts.begin(), cuts.end());
  out = d;
  return {};
}

int Distribution::owner(uint64_t element) const {
  if (cuts_ != nullptr) {
    const auto after = std::upper_bound(cuts_->begin(), cuts_->end() - 1, static_cast<int64_t>(element));
    return static_cast<int>(after - cuts_->begin()) - 1;
  }
  uint64_t piece = 0;
  for (size_t d = 0; d < static_cast<size_t>(dims_); ++d) {
    const uint64_t index = element / stride_[d];
    element -= index * stride_[d];
    piece = piece * static_cast<uint64_t>(div_[d]) + index / static_cast<uint64_t>(block_[d]);
  }
  return first_ + static_cast<int>(piece);
}

uint64_t Distribution::owner_run_end(uint64_t element) const {
  if (cuts_ != nullptr) return static_cast<uint64_t>((*cuts_)[static_cast<size_t>(owner(element)) + 1]);
  const auto d = static_cast<size_t>(innermost_);
  const auto block = static_cast<uint64_t>(block_[d]), extent = static_cast<uint64_t>(dim_[d]);
  const uint64_t outer = element / (stride_[d] * extent) * extent;  // index of this row's start, in units of stride
  const uint64_t index = element / stride_[d] - outer;
  return (outer + std::min((index / block + 1) * block, extent)) * stride_[d];
}

std::array<Range, Distribution::max_dims> Distribution::box(int rank) const {
  std::array<Range, max_dims> box{};
  if (cuts_ != nullptr) {
    const auto r = static_cast<size_t>(rank);
    if (rank >= 0 && r + 1 < cuts_->size()) box[0] = {(*cuts_)[r], (*cuts_)[r + 1] - (*cuts_)[r], 1};
    return box;
  }
  int64_t piece = rank - first_, pieces = 1;
  for (int d = 0; d < dims_; ++d) pieces *= div_[d];
  if (piece < 0 || piece >= pieces) return box;
  bool empty = false;
  for (size_t d = static_cast<size_t>(dims_); d-- > 0;) {
    const int64_t begin = piece % div_[d] * block_[d];
    piece /= div_[d];
    box[d] = {std::min(begin, dim_[d]), std::clamp<int64_t>(dim_[d] - begin, 0, block_[d]), 1};
    empty = empty || box[d].length == 0;
  }
  for (Range& range : box)
    if (empty) range.length = 0;
  return box;
}

}  // namespace hiroba
