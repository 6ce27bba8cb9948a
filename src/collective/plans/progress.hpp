// The thread that advances started operations while the program computes (option progress; its words are those of the
// paper on overlap by Nanri and others: fully subscribed is `thread`, spare core is `spare`). It starts with the first
// started operation, and sleeps while none is under way. On its own core it polls; if it shares cores with the program,
// it polls at intervals, at a lower priority.
//
// Owner: Collective. Any thread may call wake().
#pragma once

#include <pthread.h>

#include <atomic>

#include "base/thread.hpp"
#include "collective/plans/operation.hpp"
#include "collective/world.hpp"

namespace hiroba {

class ProgressThread {
 public:
  ~ProgressThread() { stop(); }
  // Does not start the thread yet. `placement`: option progress.
  void start(const World& world, const Placement& placement) { world_ = &world, placement_ = placement; }
  // Requires an operation under way.
  Status wake();
  // From the first begin on, the thread runs only between begin and end.
  void begin_region();
  void end_region() { outside_.store(true); }
  void stop();

 private:
  void run();
  void carry_on();

  const World* world_ = nullptr;
  Placement placement_;
  pthread_t thread_{};
  std::atomic<bool> running_{false}, stopping_{false}, outside_{false};
  std::atomic<uint32_t> bell_{0};  // futex
  std::atomic<bool> asleep_{false};
};

}  // namespace hiroba
