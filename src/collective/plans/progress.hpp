// The thread that carries started operations on while the program computes (option progress, its words as in the paper
// on overlap by Nanri and others: fully subscribed is `thread`, spare core is `spare`). It lives from the first
// operation that is started, and sleeps while none is under way. On its own core it polls; where it shares cores with
// the program it looks now and then, at a lower priority.
//
// Owner: Collective. wake() is for any thread.
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
  // Nothing is started yet. `placement`: option progress.
  void start(const World& world, const Placement& placement) { world_ = &world, placement_ = placement; }
  // An operation is under way.
  Status wake();
  // The program says where it may run: only between begin and end, from the first begin on.
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
