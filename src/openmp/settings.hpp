// RegionSettings: what the program has set by functions of omp.h, or by a construct around a region (`teams`), and that
// all threads of the region must know: rank 0 sends it with the region, and the other ranks set the same.
//
// TeamSizes: the numbers of threads that the ranks have for a region, which may differ. Owner: Regions. agree() is
// collective, and blocks; the rest is thread-safe after it.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/memory.hpp"

namespace hiroba::openmp {

struct RegionSettings {
  unsigned schedule = 0;  // as omp_get_schedule has it
  int chunk = 0;
  int active_levels = 0;
  int device = 0;
  uintptr_t allocator = 0;
  int threads = 0;  // 0: nothing set
  int limit = 0;    // of threads, by OMP_THREAD_LIMIT or a construct; 0: none
  int team = 0, teams = 1;
  bool dynamic = false;
  bool operator==(const RegionSettings&) const = default;

  // Returns the settings of this thread.
  static RegionSettings current();
  void apply() const;
  // Returns the limit of threads of the program at this place, outside of teams of all ranks; 0: none.
  static int thread_limit();
};

class TeamSizes {
 public:
  // Takes what libgomp has for this rank, and tells the others.
  Status agree(Memory& memory);
  int all() const { return all_; }
  int here() const { return here_; }
  int largest() const;
  // Returns the threads of a rank in a team of `threads`: its own of a team of all, else an even part; one of the first
  // ranks each if there are fewer.
  int of(int rank, int threads) const;

 private:
  std::vector<int> of_rank_;
  int all_ = 1, here_ = 1;
};

}  // namespace hiroba::openmp
