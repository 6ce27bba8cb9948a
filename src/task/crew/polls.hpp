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
  using Function = int (*)(void* context);  // 0: not to be called any more

  // A relaxed load, because each thread looks before each task; a thread that sees a function late calls it late.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  void add(Function function, void* context) {
    lock_.lock();
    list_.push_back({function, context});
    count_.store(list_.size());
    lock_.unlock();
  }
  // All of them; nothing, if another thread does.
  void call() {
    if (!lock_.try_lock()) return;
    const size_t ended = std::erase_if(list_, [](const Poll& poll) { return poll.function(poll.context) == 0; });
    if (ended > 0) count_.store(list_.size());
    last_.store(seconds_now(), std::memory_order_relaxed);
    lock_.unlock();
  }
  // For a thread that has other things to do: a call costs as much as small tasks.
  bool due() const {
    constexpr double pause = 5e-6;
    return seconds_now() - last_.load(std::memory_order_relaxed) > pause;
  }
  // Of the threads that find nothing to do one goes on looking while the others sleep. False: another one does.
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
  alignas(64) std::atomic<double> last_{0};  // when they were called
  SpinLock lock_;                            // guards what follows
  std::vector<Poll> list_;
};

}  // namespace hiroba
