// Rows of equal blocks in memory: a loop for each size of block that the processor moves at once. Compiled for speed,
// see src/CMakeLists.txt: elements two apart, the usual case of a stride, become vector code. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hiroba {

// `count` blocks of `block` bytes; strides in bytes. The two rows do not overlap.
void copy_row(char* to, const char* from, size_t block, int64_t count, int64_t to_stride, int64_t from_stride);

}  // namespace hiroba
