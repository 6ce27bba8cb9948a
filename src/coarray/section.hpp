// Sections of arrays, and traversals of two of them together: pure functions on descriptions.
//
// A section is count[d] elements in dimension d (outermost first), stride[d] bytes apart. A Walk is the simplest form
// of one or two of them: without dimensions of length 1, with neighbours as one block, and with dimensions that are
// consecutive in memory as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hiroba {

// The first element of a section, and its location.
struct Place {
  int rank = 0;
  uint64_t offset = 0;   // if it is not on this node
  char* here = nullptr;  // address if this process can access it; null: through the transport
};

// Only the first `dims` entries of the arrays are set: to clear and copy all takes longer than to move a few bytes.
struct Box {
  static constexpr int max_dims = 8;
  int dims = 0;
  int64_t count[max_dims];
  int64_t stride[max_dims];

  Box() {}  // NOLINT: see above
  Box(const Box& other) { *this = other; }
  Box& operator=(const Box& other) {
    if (this == &other) return *this;
    dims = other.dims;
    std::copy_n(other.count, dims, count);
    std::copy_n(other.stride, dims, stride);
    return *this;
  }

  int64_t elements() const;
  // Computes the range of its bytes relative to its first element, [low, high); not for an empty box.
  void bounds(size_t element, int64_t& low, int64_t& high) const;
  // Returns the same elements in the same order, one after the other.
  Box packed(size_t element) const;
  // Returns the counts for messages: "[4][1:8]".
  std::string shape() const;
  bool operator==(const Box& other) const {
    return dims == other.dims && std::equal(count, count + dims, other.count) &&
           std::equal(stride, stride + dims, other.stride);
  }
};

struct Walk {
  static constexpr int max_dims = 16;
  int dims = 0;
  size_t block = 0;  // bytes at each step
  int64_t count[max_dims];
  int64_t to[max_dims], from[max_dims];  // strides in bytes

  Walk() {}  // NOLINT: as for Box

  int64_t blocks() const;
  bool contiguous() const { return dims == 0; }
  // Calls visit(offset in to, offset in from) for each block, in order.
  template <typename Visit>
  void for_each_block(const Visit& visit) const {
    int64_t index[max_dims] = {}, at_to = 0, at_from = 0;
    if (blocks() == 0) return;
    for (;;) {
      visit(at_to, at_from);
      int d = dims - 1;
      for (; d >= 0; --d) {
        at_to += to[d], at_from += from[d];
        if (++index[d] < count[d]) break;
        at_to -= to[d] * count[d], at_from -= from[d] * count[d];
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }
};

// Calls visit(offset, blocks, stride) for the rows that form the blocks [first, first + blocks) of a walk's from side.
template <typename Visit>
void for_rows(const Walk& walk, int64_t first, int64_t blocks, const Visit& visit) {
  const int inner = walk.dims - 1;
  if (inner < 0) return visit(int64_t{0}, int64_t{1}, int64_t{0});
  int64_t index[Walk::max_dims] = {}, at = 0, rest = first;
  for (int d = inner; d >= 0; --d) {
    index[d] = rest % walk.count[d], rest /= walk.count[d];
    at += index[d] * walk.from[d];
  }
  while (blocks > 0) {
    const int64_t row = std::min(blocks, walk.count[inner] - index[inner]);
    visit(at, row, walk.from[inner]);
    blocks -= row;
    index[inner] += row, at += row * walk.from[inner];
    for (int d = inner; d > 0 && index[d] == walk.count[d]; --d) {
      at += walk.from[d - 1] - walk.from[d] * walk.count[d];
      index[d] = 0, ++index[d - 1];
    }
  }
}

// Returns true if elements of both correspond: equal counts in each dimension that is not of length 1, or a different
// number of such dimensions but equal numbers of elements.
bool conform(const Box& to, const Box& from);

// Computes the common walk of both; false if there is none (6x4 and 8x3): then one side must be packed first.
bool pair_up(const Box& to, const Box& from, size_t element, Walk& out);

// Returns the elements of a section, in order, independent of the target.
Walk walk_packed(const Box& from, size_t element);

// Copies the blocks of a walk, in their order; the sides must not overlap.
void copy(char* to, const char* from, const Walk& walk);

// Packs `blocks` blocks of a walk's from side, beginning with the block numbered `first`.
void gather(char* packed, const char* from, const Walk& walk, int64_t first, int64_t blocks);

// Writes one element over a section.
void fill(char* to, const Box& box, const void* value, size_t element);

}  // namespace hiroba
