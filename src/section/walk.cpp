#include "section/walk.hpp"

#include <cassert>
#include <cstring>

#include "base/rows.hpp"

namespace hiroba {

namespace {

Section without_ones(const SectionView& section) {
  Section out(section.address, section.bytes);
  for (int d = 0; d < section.dims; ++d)
    if (section.count[d] != 1) out.add(section.count[d], section.stride[d]);
  return out;
}

// Adds a dimension around the present ones, innermost first: it joins neighbours into one block, and is merged with the
// last one if it follows that in memory on both sides.
void surround(Walk& walk, int64_t count, int64_t to, int64_t from) {
  const int last = walk.dims - 1;
  const auto bytes = static_cast<int64_t>(walk.block);
  if (walk.dims == 0 && to == bytes && from == bytes) {
    walk.block *= static_cast<size_t>(count);
  } else if (walk.dims > 0 && to == walk.to[last] * walk.count[last] && from == walk.from[last] * walk.count[last]) {
    walk.count[last] *= count;
  } else {
    assert(walk.dims < Walk::max_dims);
    walk.count[walk.dims] = count, walk.to[walk.dims] = to, walk.from[walk.dims++] = from;
  }
}

}  // namespace

bool conform(const SectionView& to, const SectionView& from) {
  const Section a = without_ones(to), b = without_ones(from);
  return a.dims == b.dims ? std::equal(a.count.data(), a.count.data() + a.dims, b.count.data())
                          : a.blocks() == b.blocks();
}

bool pair_up(const SectionView& to, const SectionView& from, size_t bytes, Walk& walk) {
  Section a = without_ones(to), b = without_ones(from);
  int64_t *const a_count = a.count.data(), *const a_stride = a.stride.data();
  int64_t *const b_count = b.count.data(), *const b_stride = b.stride.data();
  walk.dims = 0, walk.block = bytes;
  int i = a.dims - 1, j = b.dims - 1;
  while (i >= 0 && j >= 0) {
    // The dimension with more blocks is divided in two, if possible.
    const int64_t count = std::min(a_count[i], b_count[j]);
    if (count == 0) return walk.dims = 0, walk.block = 0, true;
    if (a_count[i] % count != 0 || b_count[j] % count != 0) return false;
    surround(walk, count, a_stride[i], b_stride[j]);
    a_count[i] /= count, a_stride[i] *= count;
    b_count[j] /= count, b_stride[j] *= count;
    if (a_count[i] == 1) --i;
    if (b_count[j] == 1) --j;
  }
  std::reverse(walk.count, walk.count + walk.dims);
  std::reverse(walk.to, walk.to + walk.dims);
  std::reverse(walk.from, walk.from + walk.dims);
  return true;
}

Walk walk_packed(const SectionView& from) {
  Walk walk;
  pair_up(Section(from).dense(), from, from.bytes, walk);
  return walk;
}

void copy(char* to, const char* from, const Walk& walk) {
  if (walk.dims == 0) {
    std::memcpy(to, from, walk.block);
    return;
  }
  Walk rows = walk;
  const int inner = --rows.dims;
  rows.for_each_block([&](int64_t at_to, int64_t at_from) {
    copy_row(to + at_to, from + at_from, walk.block, walk.count[inner], walk.to[inner], walk.from[inner]);
  });
}

void gather(char* packed, const char* from, const Walk& walk, int64_t first, int64_t blocks) {
  const auto block = static_cast<int64_t>(walk.block);
  for_rows(walk, first, blocks, [&](int64_t at, int64_t row, int64_t stride) {
    copy_row(packed, from + at, walk.block, row, block, stride);
    packed += row * block;
  });
}

void pack(char* to, const SectionView& from) { copy(to, from.address, walk_packed(from)); }

void unpack(const SectionView& to, const char* from) { copy(to.address, from, walk_packed(to).turned()); }

void fill(const SectionView& to, const void* value) {
  Walk walk;
  pair_up(to, Section(to).repeated(), to.bytes, walk);
  copy(to.address, static_cast<const char*>(value), walk);
}

}  // namespace hiroba
