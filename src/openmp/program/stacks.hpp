// Stacks in shared memory, at home on the rank of their thread: what a function of the program has on its stack, such
// as the variables that a region shares, is at the same address in every rank. Below each lies a closed page.
//
// Owner: Regions. Thread-safe after allocate().
#pragma once

#include <cstdint>
#include <span>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class Stacks {
 public:
  static constexpr int least_most = 64;
  // `most`: the largest number of threads of a rank. Collective.
  Status allocate(Memory& memory, int most);

  char* top(int thread) const { return mine_ + static_cast<uint64_t>(thread + 1) * bytes_; }
  int64_t bytes() const { return static_cast<int64_t>(bytes_); }  // of a stack
  std::span<const char> all() const { return all_; }              // of all ranks
  // Returns true if the address is in a stack of this rank.
  bool have(const void* address) const {
    return address >= mine_ && address < mine_ + bytes_ * static_cast<uint64_t>(most_);
  }
  // Calls function(argument) on the stack of this rank's thread. Not for a thread that is on it already.
  void call_on(int thread, void (*function)(void*), void* argument) const;
  // Call it in each thread that is to use a stack.
  static void handle_faults_elsewhere();
  // The same on another stack, which ends at `top`, a multiple of 16.
  static void call_from(char* top, void (*function)(void*), void* argument);

 private:
  uint64_t bytes_ = 0;  // of a stack
  char* mine_ = nullptr;
  std::span<const char> all_;
  int most_ = 0;
};

}  // namespace hiroba::openmp
