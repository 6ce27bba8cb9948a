// Finds the cache lines and bytes in which a page differs from its twin, by the widest instructions of the processor.
// Thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hiroba {

constexpr size_t line_bytes = 64;

// Bit b is cache line b of the page.
struct Lines {
  uint64_t changed = 0;  // differ from the twin
  uint64_t whole = 0;    // differ in every scalar
};

struct LineComparison {
  // Compares a page by scalars of 1, 2, 4 and 8 bytes.
  std::array<Lines (*)(const char* page, const char* twin), 4> lines;
  // Compares one line: bit b is set if byte b differs. The twin then has the compared bytes.
  uint64_t (*take)(const char* line, char* twin);

  Lines compare(const char* page, const char* twin, size_t scalar) const {
    return lines[static_cast<size_t>(std::countr_zero(scalar))](page, twin);
  }
};

// Returns all comparisons that run on this processor, the fastest first.
std::span<const LineComparison> line_comparisons();

// Extends a mask of bytes of a line to all bytes of the scalars that it touches.
inline uint64_t whole_scalars(uint64_t mask, size_t scalar) {
  switch (scalar) {
    case 2: return ((mask | mask >> 1) & 0x5555555555555555) * 3;
    case 4: mask |= mask >> 1; return ((mask | mask >> 2) & 0x1111111111111111) * 15;
    case 8: mask |= mask >> 1, mask |= mask >> 2; return ((mask | mask >> 4) & 0x0101010101010101) * 255;
    default: return mask;
  }
}

inline uint64_t word_at(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace hiroba
