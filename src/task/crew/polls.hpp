// Callbacks of the program that poll for external events, such as requests of MPI, for which held tasks wait: the
// threads of a crew call them between tasks and while they are idle.
//
// Owner: Crew. Thread-safe; a function runs in one thread at a time, and may not call add().
#pragma once

#include <vector>

#include "task/crew/ready.hpp"

namespace hiroba {

class Polls {
 public:
  using Function = int (*)(void* context);  // returns 0 to be called no more

  // Uses a relaxed load, because each thread checks before each task; a thread that sees a function late calls it late.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  void add(Function function, void* context) {
    const std::lock_guard guard(lock_);
    list_.push_back({function, context});
    count_.store(list_.size());
  }
  // Calls all of them; does nothing if another thread does.
  void call() {
    if (!lock_.try_lock()) return;
    const size_t ended = std::erase_if(list_, [](const Poll& poll) { return poll.function(poll.context) == 0; });
    if (ended > 0) count_.store(list_.size());
    last_.store(seconds_now(), std::memory_order_relaxed);
    lock_.unlock();
  }
  // Limits the calls of a thread that has other work: a call costs as much as small tasks.
  bool due() const {
    constexpr double pause = 5e-6;
    return seconds_now() - last_.load(std::memory_order_relaxed) > pause;
  }
  // One of the idle threads goes on polling while the others sleep. Returns false if another one does.
  bool begin_watch() { return unwatched() && !watched_.exchange(true); }
  bool unwatched() const { return any() && !watched_.load(); }
  void end_watch() { watched_.store(false); }

 private:
  struct Poll {
    Function function;
    void* context;
  };
  std::atomic<size_t> count_{0};
  std::atomic<bool> watched_{false};
  alignas(64) std::atomic<double> last_{0};  // time of the last call
  SpinLock lock_;                            // guards the members below
  std::vector<Poll> list_;
};

}  // namespace hiroba
