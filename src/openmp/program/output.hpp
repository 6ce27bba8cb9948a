// Rank 0 writes what threads of other ranks write, in regions, to files that it has opened: a descriptor, and the
// buffer of a stream of C, are a rank's own. So such text is kept, in shared memory, until the next barrier of all
// ranks.
//
// Owner: the process (instance<RegionOutput>). write() is thread-safe; after_barrier() is for the first thread of each
// rank, while the others write nothing.
#pragma once

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class RegionOutput {
 public:
  Status begin(Memory& memory);  // collective

  // Returns true if rank 0 has opened the stream, and this is another rank.
  bool is_of_rank_0(const FILE* file) const;
  void write(FILE* file, std::string_view text);
  void after_barrier();

 private:
  struct Text {
    Text* next;
    FILE* file;
    size_t bytes;
    char* data() { return reinterpret_cast<char*>(this + 1); }
  };
  struct Lists {
    int64_t texts;   // of all ranks, ever: only that of rank 0 is used
    Text* first[2];  // of this interval between barriers, and of the one before
  };

  void write_all();

  Memory* memory_ = nullptr;
  Lists* lists_ = nullptr;  // of each rank
  std::mutex lock_;
  Text* last_ = nullptr;
  int interval_ = 0;      // 0 or 1
  uint64_t written_ = 0;  // texts
};

}  // namespace hiroba::openmp
