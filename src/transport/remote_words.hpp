// Part of the contract of this floor (transport.hpp): atomic operations on words of all ranks, and waits for a word to
// change.
//
// Owner: the transport. Threads: any. They are sequentially consistent among themselves; not ordered with puts.
#pragma once

#include <atomic>
#include <cstdint>

namespace hiroba {

class RemoteWords {
 public:
  enum class Operation : uint32_t { add64, swap64, add32, swap32 };  // a swap happens if the word is as expected

  // Return the operation for words of 8 or 4 bytes.
  static Operation adding(unsigned bytes) { return bytes == 8 ? Operation::add64 : Operation::add32; }
  static Operation swapping(unsigned bytes) { return bytes == 8 ? Operation::swap64 : Operation::swap32; }

  virtual ~RemoteWords() = default;
  // Performs it on the word at `at`, and returns the word from before.
  virtual uint64_t perform(int rank, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) = 0;
  uint64_t fetch_add64(int rank, uint64_t at, uint64_t value) { return perform(rank, Operation::add64, at, value, 0); }
  uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) {
    return perform(rank, Operation::swap64, at, desired, expected);
  }
  uint32_t fetch_add32(int rank, uint64_t at, uint32_t value) {
    return static_cast<uint32_t>(perform(rank, Operation::add32, at, value, 0));
  }
  uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) {
    return static_cast<uint32_t>(perform(rank, Operation::swap32, at, desired, expected));
  }
  // Blocks until the 32-bit word is no longer `old`, or for at most `seconds`; returns its value. wake() shortens the
  // wait.
  virtual uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) = 0;
  virtual void wake(int rank, uint64_t at) = 0;

  // The same for a word that this process can access.
  static uint64_t perform_here(char* at, Operation operation, uint64_t operand, uint64_t expected) {
    auto& word64 = *reinterpret_cast<uint64_t*>(at);
    auto& word32 = *reinterpret_cast<uint32_t*>(at);
    const auto operand32 = static_cast<uint32_t>(operand);
    auto expected32 = static_cast<uint32_t>(expected);
    switch (operation) {
      case Operation::add64: return std::atomic_ref(word64).fetch_add(operand);
      case Operation::add32: return std::atomic_ref(word32).fetch_add(operand32);
      case Operation::swap64: std::atomic_ref(word64).compare_exchange_strong(expected, operand); return expected;
      case Operation::swap32: std::atomic_ref(word32).compare_exchange_strong(expected32, operand32); return expected32;
    }
    return 0;
  }
};

}  // namespace hiroba
