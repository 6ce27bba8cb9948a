// Exit handlers that regions add in other ranks than main's, and destructors of variables that are static in functions
// and were made there. Rank 0 runs them, after those of main.
//
// Owner: the process (instance<ExitHandlers>). Thread-safe after begin().
#pragma once

#include <cstdint>
#include <mutex>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class ExitHandlers {
 public:
  Status begin(Memory& memory);  // collective
  // Returns false if there is no room.
  bool add(void (*function)(void*), void* argument);
  // Rank 0, when no region runs.
  void run() const;

 private:
  static constexpr uint64_t most = 255;
  struct Handler {
    void (*function)(void*);
    void* argument;
  };
  struct List {  // of each rank
    uint64_t count;
    Handler handlers[most];
  };

  Memory* memory_ = nullptr;
  List* lists_ = nullptr;
  std::mutex lock_;
};

}  // namespace hiroba::openmp
