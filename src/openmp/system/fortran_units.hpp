// The units of Fortran that are open, each with the rank that has opened it.
//
// Owner: the process (instance<FortranUnits>). Thread-safe after begin(). What rank 0 opens others know after the next
// barrier.
#pragma once

#include <map>
#include <mutex>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class FortranUnits {
 public:
  Status begin(Memory& memory);  // collective
  void open(int unit, bool sequential);
  void close(int unit);
  bool is_open_here(int unit);
  int owner(int unit) const;  // -1: none
  bool is_sequential(int unit) const;
  // Files in memory, by the units that Fortran's library opens for them: named fort.UNIT.
  int open_file_in_memory(int unit);
  int file_in_memory(int unit);
  static int unit_of(const char* name);  // 0: it names no such file

 private:
  struct Unit {
    int number;
    bool is_open, sequential;
  };
  static constexpr int most = 256;
  const Unit* find(int unit, int& rank) const;

  Memory* memory_ = nullptr;
  Unit* units_ = nullptr;  // of each rank
  std::mutex lock_;
  std::map<int, int> files_;
};

}  // namespace hiroba::openmp
