// Option timeout for waits for tasks: a separate thread checks that tasks of the program still end, because the waiting
// thread may be in the body of a task that never does.
//
// Owner: Tasks. begin() and end() are for the program's thread.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "base/status.hpp"
#include "task/crew/crew.hpp"

namespace hiroba {

class Watch {
 public:
  ~Watch() { stop(); }
  Status start(const Crew& crew, double timeout);
  void stop();
  // The program waits in this call for tasks of the domain until end().
  void begin(const char* call, const Domain& domain) {
    const std::lock_guard<std::mutex> guard(lock_);
    call_ = call, domain_ = &domain, ++waits_;
  }
  void end() {
    const std::lock_guard<std::mutex> guard(lock_);
    call_ = nullptr;
  }

 private:
  static void* main(void* self);
  void look();

  const Crew* crew_ = nullptr;
  double timeout_ = 0;
  pthread_t thread_{};
  std::atomic<bool> stopping_{false};
  std::mutex lock_;  // guards the members below
  const char* call_ = nullptr;
  const Domain* domain_ = nullptr;
  uint64_t waits_ = 0, seen_ = 0;  // waits begun, and the last one that was checked
  int64_t ended_ = -1;             // ended tasks at the last check
  double since_ = 0;               // time since which ended_ is the same
};

}  // namespace hiroba
