// Settings that the program has made by functions of omp.h, or by a construct around a region (`teams`), and that all
// threads of the region must know: rank 0 sends them with the region, and the other ranks set the same.
#pragma once

#include <cstdint>

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

}  // namespace hiroba::openmp
