// The `single` constructs of regions of all ranks, without `copyprivate`. The thread of rank 0 that comes first
// executes one, so that what it opens and allocates is main's. Many programs set a variable in one with `nowait` that
// all threads add to soon after, which is a race, but one that hardly shows where the thread that comes first executes
// the construct. So all others wait, before their next construct or atomic operation, for what the thread that executes
// it has written before its own next one.
//
// Owner: the process (instance<Singles>). Regions calls begin(). Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "openmp/program/member.hpp"
#include "openmp/worksharing/cancellation.hpp"

namespace hiroba::openmp {

class Singles {
 public:
  // `word`: at home on rank 0.
  void begin(int64_t& word, int rank, const Cancellation& cancellation);
  // Returns true if this thread executes the construct.
  bool start();
  // This thread comes to a construct, or to an atomic operation.
  void pass() {
    if (member.single != 0) [[unlikely]]
      hand_over_or_wait();
  }
  // This thread comes to a barrier, which hands over all writes to those who wait there.
  void pass_at_barrier() {
    if (member.executes_single) pass();
    member.single = 0;
  }

 private:
  bool take(uint64_t number);
  void hand_over_or_wait();
  // Waits until the word has `value`, which stands for the begin or the end of a construct; returns false if it has
  // not.
  bool await(uint64_t value, double most_seconds);

  int64_t* word_ = nullptr;
  bool mine_ = false;
  const Cancellation* cancellation_ = nullptr;
  std::atomic<uint64_t> seen_ = 0;      // a value that the word has had
  std::atomic<double> patience_ = 0.1;  // seconds
};

}  // namespace hiroba::openmp
