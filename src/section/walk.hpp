// Two sections together, of which one is copied to the other: traversal, cutting, copying, packing.
//
// A Walk is the simplest form of both: without dimensions of length 1, with neighbours as one block, and with
// dimensions that follow each other in memory as one. Thread-safe; copy, gather, pack, unpack and fill touch nothing
// but the blocks.
#pragma once

#include "section/section.hpp"

namespace hiroba {

struct Walk {
  static constexpr int max_dims = 2 * Section::most_dims;
  int dims = 0;
  size_t block = 0;  // bytes at each step
  int64_t count[max_dims];
  int64_t to[max_dims], from[max_dims];  // strides in bytes

  Walk() {}  // NOLINT: entries beyond `dims` are not set, as in a section

  int64_t blocks() const {
    int64_t product = 1;
    for (int d = 0; d < dims; ++d) product *= count[d];
    return product;
  }
  size_t total() const { return block * static_cast<size_t>(blocks()); }
  bool contiguous() const { return dims == 0; }
  // The same with its sides exchanged.
  Walk turned() const {
    Walk out;
    out.dims = dims, out.block = block;
    std::copy_n(count, dims, out.count);
    std::copy_n(to, dims, out.from);
    std::copy_n(from, dims, out.to);
    return out;
  }
  // One side: side<Most>(to) or side<Most>(from). Requires at most `Most` dimensions.
  template <int Most>
  SectionOf<Most> side(const int64_t* stride, const char* address = nullptr) const {
    return SectionOf<Most>(SectionView{const_cast<char*>(address), block, dims, count, stride});
  }
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
  // Calls visit(part, offset in to, offset in from), in order, for walks of at most `most` bytes, or single blocks, and
  // at most `most_dims` dimensions, of which this one consists.
  template <typename Visit>
  void for_each_part(size_t most, int most_dims, const Visit& visit, int64_t at_to = 0, int64_t at_from = 0) const {
    if (total() == 0) return;
    if (dims == 0 || (dims <= most_dims && total() <= most)) return visit(*this, at_to, at_from);
    const size_t each = total() / static_cast<size_t>(count[0]);
    const bool whole = dims > most_dims || each >= most;  // one index of the outermost dimension after the other
    Walk part;
    part.block = block, part.dims = whole ? dims - 1 : dims;
    std::copy_n(count + dims - part.dims, part.dims, part.count);
    std::copy_n(to + dims - part.dims, part.dims, part.to);
    std::copy_n(from + dims - part.dims, part.dims, part.from);
    const int64_t at_once = whole ? 1 : static_cast<int64_t>(most / each);
    for (int64_t i = 0; i < count[0]; i += at_once) {
      if (!whole) part.count[0] = std::min(at_once, count[0] - i);
      part.for_each_part(most, most_dims, visit, at_to + i * to[0], at_from + i * from[0]);
    }
  }
};

// Calls visit(offset, blocks, stride) for the rows that make up the blocks [first, first + blocks) of a walk's from
// side.
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

// True if blocks of both correspond: equal counts in each dimension that is not of length 1, or a different number of
// such dimensions but as many blocks in all.
bool conform(const SectionView& to, const SectionView& from);

// Their common walk, with blocks of `bytes`; false if there is none (6x4 and 8x3): then one side must be packed first.
// With bytes = 0 neighbours form no blocks: each step is one element.
bool pair_up(const SectionView& to, const SectionView& from, size_t bytes, Walk& out);

// The blocks of a section, in order, to consecutive memory.
Walk walk_packed(const SectionView& from);

// Calls visit(address, bytes) for the blocks of a section, in order; neighbours are one block.
template <typename Visit>
void for_each_block(const SectionView& section, const Visit& visit) {
  const Walk walk = walk_packed(section);
  walk.for_each_block([&](int64_t, int64_t at) { visit(section.address + at, walk.block); });
}

// The same bytes in the same order with as few dimensions as possible.
template <int Most>
SectionOf<Most> simplified(const SectionOf<Most>& section) {
  Walk walk;
  pair_up(section, section, section.bytes, walk);
  return walk.side<Most>(walk.from, section.address);
}

// Copies the blocks of a walk, in their order; the sides do not overlap.
void copy(char* to, const char* from, const Walk& walk);
// `blocks` blocks of a walk's from side, beginning with the block numbered `first`, packed one after the other.
void gather(char* packed, const char* from, const Walk& walk, int64_t first, int64_t blocks);
// Copies all blocks of a section to consecutive memory, and back.
void pack(char* to, const SectionView& from);
void unpack(const SectionView& to, const char* from);
// Writes one value, of as many bytes as a block, over a section.
void fill(const SectionView& to, const void* value);

}  // namespace hiroba
