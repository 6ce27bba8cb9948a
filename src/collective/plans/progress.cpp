#include "collective/plans/progress.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace hiroba {

Status ProgressThread::wake() {
  if (placement_.kind == Placement::Kind::none) return {};
  if (!running_.exchange(true)) {
    const auto run = [](void* self) -> void* { return static_cast<ProgressThread*>(self)->run(), nullptr; };
    HIROBA_TRY(start_thread(thread_, "hiroba-collect", run, this));
    return placement_.apply(thread_);
  }
  bell_.fetch_add(1);
  if (asleep_.load()) futex_wake_all(bell_);
  return {};
}

void ProgressThread::begin_region() {
  outside_.store(false);
  bell_.fetch_add(1);
  futex_wake_all(bell_);
}

void ProgressThread::stop() {
  if (!running_.load()) return;
  stopping_.store(true);
  bell_.fetch_add(1);
  futex_wake_all(bell_);
  pthread_join(thread_, nullptr);
  running_.store(false);
}

void ProgressThread::run() {
  constexpr int polite = 10;
  if (placement_.kind == Placement::Kind::thread) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), polite);
  while (!stopping_.load()) {
    const uint32_t seen = bell_.load();
    if (world_->operations->any() && !outside_.load()) {
      carry_on();
      continue;
    }
    asleep_.store(true);
    if (bell_.load() == seen) futex_wait(bell_, seen, 1);
    asleep_.store(false);
  }
}

// Advances until nothing is under way. A thread that shares cores sleeps between polls: copies cost the same now and
// when the program waits for them, so only other ranks gain.
void ProgressThread::carry_on() {
  constexpr double first_nap = 0.5e-3, longest_nap = 5e-3;
  const bool shares = placement_.kind == Placement::Kind::thread;
  double nap = first_nap;
  while (world_->operations->any() && !stopping_.load() && !outside_.load()) {
    if (shares) world_->transport->sleep(nap), nap = std::min(nap * 1.25, longest_nap);
    bool any = world_->transport->progress();
    any = world_->operations->advance() || any;
    if (any) nap = first_nap;
    else if (!shares) sched_yield();
  }
}

}  // namespace hiroba
