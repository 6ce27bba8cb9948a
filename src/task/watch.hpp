// Option timeout for waits for tasks: a thread of its own looks whether tasks of the program still end, because the
// thread that waits may be in the body of a task that never does.
//
// Owner: Tasks. begin() and end() are for the program's thread.
#pragma once

#include <pthread.h>

#include <atomic>

#include "base/status.hpp"
#include "task/crew.hpp"

namespace hiroba {

class Watch {
 public:
  ~Watch() { stop(); }
  Status start(const Crew& crew, const Domain& domain, double timeout);
  void stop();
  // Between these two the program waits in this call.
  void begin(const char* call) { call_.store(call); }
  void end() { call_.store(nullptr); }

 private:
  static void* main(void* self);

  const Crew* crew_ = nullptr;
  const Domain* domain_ = nullptr;
  double timeout_ = 0;
  pthread_t thread_{};
  std::atomic<bool> stopping_{false};
  std::atomic<const char*> call_{nullptr};
};

}  // namespace hiroba
