// Rank 0 writes what threads of other ranks write, in regions, to streams of C that it has opened: the buffer of a
// stream is a rank's own. Such a text is kept in shared memory until rank 0 writes to a stream itself, or comes to a
// barrier of all ranks; texts have the order in which they were written.
//
// stdout is each rank's own, of one open file. In regions it is flushed after each write, so that its parts have the
// order of the program, too.
//
// Owner: the process (instance<RegionOutput>). Thread-safe after begin().
#pragma once

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <vector>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class RegionOutput {
 public:
  Status begin(Memory& memory);  // collective

  // Returns true if another rank has opened the stream; owner(): which.
  bool is_elsewhere(const FILE* file) const;
  int owner(const FILE* file) const;
  // For a stream of rank 0.
  void write(FILE* file, std::string_view text) { write(file, 0, text); }
  // The same for a unit of Fortran.
  void write(int unit, std::string_view text) { write(nullptr, unit, text); }
  // Rank 0: writes what others have given by now.
  void write_given();

 private:
  struct Text {
    int64_t next;  // the address of the next one of the rank
    FILE* file;    // null: a unit of Fortran
    int unit;
    uint64_t number;  // in the order of all
    size_t bytes;
    char* data() { return reinterpret_cast<char*>(this + 1); }
  };
  struct Lists {
    int64_t numbers, texts;  // of all ranks, ever: begun, and given; only those of rank 0 are used
    int64_t first;           // the address of the rank's first text
  };

  void write(FILE* file, int unit, std::string_view text);
  Text* following(size_t rank);
  void write_next();

  Memory* memory_ = nullptr;
  Lists* lists_ = nullptr;  // of each rank
  std::mutex lock_;
  Text* last_ = nullptr;
  std::vector<Text*> written_;  // rank 0: the last one of each rank, which the next one follows
  uint64_t count_ = 0;          // of those that rank 0 has written
};

}  // namespace hiroba::openmp
