// A wait of a thread, for another one, that lasts: it is shown on the board with its place in the program, which option
// still and Ctrl-C read, and ends the job after option timeout. Short waits cost nothing but looks at the time.
//
// Owner: the waiting thread, while it waits. Any thread may have one.
#pragma once

#include <optional>

#include "base/job.hpp"

namespace hiroba::openmp {

class LongWait {
 public:
  // `what`: "a lock"; it outlives the wait.
  explicit LongWait(const char* what) : what_(what) {}
  // Called between the sleeps of the wait.
  void go_on();

 private:
  const char* what_;
  double begin_ = 0;
  std::optional<BlockedOnBoard> shown_;
};

}  // namespace hiroba::openmp
