// What a task says about the data it uses: sections of memory, and what it does with them. Values, and their
// arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "collective/collective.hpp"

namespace hiroba {

// Blocks of `bytes` contiguous bytes, count[d] times along dimension d, the outermost first, stride[d] bytes apart.
struct TaskSection {
  static constexpr int most_dims = 3;
  char* address = nullptr;
  size_t bytes = 0;
  int dims = 0;
  std::array<int64_t, most_dims> count, stride;  // of the first `dims`

  TaskSection() = default;
  TaskSection(void* at, size_t size) : address(static_cast<char*>(at)), bytes(size) {}

  bool operator==(const TaskSection& other) const {
    return address == other.address && bytes == other.bytes && dims == other.dims && (dims == 0 || same_blocks(other));
  }
  const char* end() const;  // of its last byte
  size_t total() const;     // bytes
  bool empty() const {
    return bytes == 0 || std::any_of(count.begin(), count.begin() + dims, [](int64_t n) { return n <= 0; });
  }
  // The same bytes with as few dimensions as possible.
  TaskSection simplified() const;
  // visit(address) for each block.
  template <typename Visit>
  void for_each_block(const Visit& visit) const;

 private:
  bool same_blocks(const TaskSection& other) const;  // of one that has as many dimensions
};

// Whether they share a byte. Exact if both lie in one array, so that their strides are the same where they have them;
// else true where one begins before the other ends.
bool overlap(const TaskSection& a, const TaskSection& b);
bool covers(const TaskSection& outer, const TaskSection& inner);  // false where it is not easily seen

struct TaskAccess {
  enum Mode : uint32_t {
    in = 1,
    out = 2,
    inout = 3,
    commutative = 7,  // inout, in any order with the same, one at a time
    concurrent = 11,  // inout, with the same at once: the tasks see to it themselves
    reduction = 19    // with the same at once, each in a part of its own (reductions.hpp)
  };
  Mode mode = in;
  // The tile that the section is part of, where a program declares tiles: tasks then depend on each other where they
  // use the same tile. Null: where sections share bytes.
  const TaskSection* tile = nullptr;
  TaskSection section;
  // Of a reduction, whose section is contiguous elements.
  uint8_t op = 0;  // of reduction_op
  Type type = Type::int8;

  // By which tasks depend on each other.
  const TaskSection& key() const { return tile != nullptr ? *tile : section; }
};
constexpr bool reads(TaskAccess::Mode mode) { return (mode & TaskAccess::in) != 0; }
constexpr bool writes(TaskAccess::Mode mode) { return (mode & TaskAccess::out) != 0; }

template <typename Visit>
void TaskSection::for_each_block(const Visit& visit) const {
  const int64_t n0 = dims > 0 ? count[0] : 1, n1 = dims > 1 ? count[1] : 1, n2 = dims > 2 ? count[2] : 1;
  for (int64_t i = 0; i < n0; ++i)
    for (int64_t j = 0; j < n1; ++j)
      for (int64_t k = 0; k < n2; ++k) {
        const int64_t at[most_dims] = {i, j, k};
        int64_t offset = 0;
        for (int d = 0; d < dims; ++d) offset += at[d] * stride[static_cast<size_t>(d)];
        visit(address + offset);
      }
}

}  // namespace hiroba
