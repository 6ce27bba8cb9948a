// The data that a task uses: sections of memory, the mode of each access, and their arithmetic. Values only.
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
  std::array<int64_t, most_dims> count, stride;  // the first `dims` are valid

  TaskSection() = default;
  TaskSection(void* at, size_t size) : address(static_cast<char*>(at)), bytes(size) {}

  bool operator==(const TaskSection& other) const {
    return address == other.address && bytes == other.bytes && dims == other.dims && (dims == 0 || same_blocks(other));
  }
  const char* end() const;  // after its last byte
  size_t total() const;     // bytes
  bool empty() const {
    return bytes == 0 || std::any_of(count.begin(), count.begin() + dims, [](int64_t n) { return n <= 0; });
  }
  // Returns the same bytes with as few dimensions as possible.
  TaskSection simplified() const;
  // Calls visit(address) for each block.
  template <typename Visit>
  void for_each_block(const Visit& visit) const;

 private:
  bool same_blocks(const TaskSection& other) const;  // requires as many dimensions
};

// Returns true if they share a byte. The result is exact if both are in one array, so that their common strides are the
// same; else it is true if one begins before the other ends.
bool overlap(const TaskSection& a, const TaskSection& b);
bool covers(const TaskSection& outer, const TaskSection& inner);  // may be false if the test is not simple

struct TaskAccess {
  enum Mode : uint32_t {
    in = 1,
    out = 2,
    inout = 3,
    commutative = 7,  // inout, in any order with others of this mode, one at a time
    concurrent = 11,  // inout, at the same time as others of this mode: the tasks synchronize themselves
    reduction = 19    // at the same time as others of this mode, each in its own part (reductions.hpp)
  };
  Mode mode = in;
  // The tile that contains the section, where a program declares tiles: tasks that use the same tile then depend on
  // each other. Null: tasks whose sections share bytes do.
  const TaskSection* tile = nullptr;
  TaskSection section;
  // Set for a reduction, whose section is contiguous elements.
  uint8_t op = 0;  // a reduction_op
  Type type = Type::int8;

  // Returns the section by which tasks depend on each other.
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
