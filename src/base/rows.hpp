// Copies rows of equal blocks in memory, by a loop for each size of block that the processor moves at once. Compiled
// for speed (src/CMakeLists.txt): elements two apart, the usual stride, become vector code. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hiroba {

// Copies `count` blocks of `block` bytes; strides are in bytes. The two rows must not overlap.
void copy_row(char* to, const char* from, size_t block, int64_t count, int64_t to_stride, int64_t from_stride);

}  // namespace hiroba
