// Stores some bytes of a word of 8, at a multiple of 8, and no others: those may be in use without transactions. Each
// store releases: a load that returns it, and acquires, comes after the lock of its stripe. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace hiroba {

template <typename T>
void store_at(char* at, uint64_t value) {
  std::atomic_ref(*reinterpret_cast<T*>(at)).store(static_cast<T>(value), std::memory_order_release);
}

inline void store_masked(char* at, uint64_t value, uint64_t mask) {
  if (mask == ~uint64_t{0}) return store_at<uint64_t>(at, value);
  for (unsigned byte = 0; byte < 8;) {
    const unsigned shift = byte * 8;
    if (byte % 4 == 0 && (mask >> shift & 0xffffffff) == 0xffffffff) {
      store_at<uint32_t>(at + byte, value >> shift), byte += 4;
    } else if (byte % 2 == 0 && (mask >> shift & 0xffff) == 0xffff) {
      store_at<uint16_t>(at + byte, value >> shift), byte += 2;
    } else {
      if ((mask >> shift & 0xff) != 0) store_at<uint8_t>(at + byte, value >> shift);
      ++byte;
    }
  }
}

}  // namespace hiroba
