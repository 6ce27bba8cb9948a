// Part of the contract of this floor (transport.hpp): atomic operations on words of all ranks, and waits for a word to
// change. The reference implementation (reference.cpp) performs them by messages to the word's home.
//
// Owner: the transport. Threads: any. They are sequentially consistent among themselves; not ordered with puts.
#pragma once

#include <cstdint>

namespace hiroba {

class RemoteWords {
 public:
  virtual ~RemoteWords() = default;
  virtual uint64_t fetch_add64(int rank, uint64_t at, uint64_t value) = 0;
  virtual uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) = 0;
  virtual uint32_t fetch_add32(int rank, uint64_t at, uint32_t value) = 0;
  virtual uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) = 0;
  // Blocks until the 32-bit word is no longer `old`, or for at most `seconds`; returns its value. wake() shortens the
  // wait.
  virtual uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) = 0;
  virtual void wake(int rank, uint64_t at) = 0;
};

}  // namespace hiroba
