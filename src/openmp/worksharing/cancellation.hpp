// Cancellation of regions, loops and sections of all ranks: words at home on rank 0, which threads look at. Without
// OMP_CANCELLATION it has no effect, and no cost.
//
// Owner: Regions. Thread-safe, but clear() and end_region().
#pragma once

#include <cstdint>

#include "openmp/program/member.hpp"

namespace hiroba::openmp {

class Cancellation {
 public:
  struct Words {
    int64_t share[2], arrived[2];  // two, which take turns as the banks of slots do
    int64_t region;
  };
  void begin(Words& words, int rank, int ranks);
  bool on() const { return on_; }

  // Both return true; a thread that they tell so leaves the region, and comes to no barrier of it any more.
  bool cancel_region();
  bool region_is_cancelled() const;
  void cancel_share() const;  // the loop, or the sections, that this thread is in
  bool share_is_cancelled() const;

  // For one thread of each rank: waits until all ranks have arrived, and returns true; or until the region is
  // cancelled.
  bool await_arrivals() const;

  // For a thread that has left its part of the region.
  bool region_was_cancelled() const;
  // Clears the words after a barrier of the ranks that `barriers` others precede.
  void clear(uint64_t barriers);
  void end_region();

 private:
  Words* words_ = nullptr;
  bool on_ = false, mine_ = false;
  uint64_t ranks_ = 1;
};

}  // namespace hiroba::openmp
