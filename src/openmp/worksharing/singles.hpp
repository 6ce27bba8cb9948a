// The `single` constructs of regions of all ranks, without `copyprivate`. The thread of rank 0 that comes first
// executes one, so that what it opens and allocates is main's. Threads of other ranks wait until it has begun: with
// `nowait` many programs set a variable there that all threads add to soon after, which is a race, but one that never
// shows where the thread that comes first executes the construct.
//
// Owner: the process (instance<Singles>). Regions calls begin(). Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "openmp/worksharing/cancellation.hpp"

namespace hiroba::openmp {

class Singles {
 public:
  // `begun`: a word at home on rank 0.
  void begin(int64_t& begun, int rank, const Cancellation& cancellation);
  // Returns true if this thread executes the construct.
  bool start();

 private:
  bool take(int64_t number);
  void await(int64_t number);

  int64_t* begun_ = nullptr;
  bool mine_ = false;
  const Cancellation* cancellation_ = nullptr;
  std::atomic<int64_t> seen_ = 0;  // a value that the word has had
};

}  // namespace hiroba::openmp
