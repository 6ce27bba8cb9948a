// Which cache lines of a page differ from its twin, by the widest instructions that the processor has. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hiroba {

constexpr size_t line_bytes = 64;

// Bit b stands for cache line b of the page.
struct Lines {
  uint64_t changed = 0;  // differ from the twin
  uint64_t whole = 0;    // differ in every byte
};

using CompareLines = Lines (*)(const char* page, const char* twin);

// All that run on this processor, the fastest first.
std::span<const CompareLines> line_comparisons();

inline uint64_t word_at(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Is not 0 if a byte of the word is.
inline uint64_t zero_bytes(uint64_t word) {
  constexpr uint64_t low = 0x0101010101010101, high = 0x8080808080808080;
  return (word - low) & ~word & high;
}

}  // namespace hiroba
