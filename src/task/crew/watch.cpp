#include "task/crew/watch.hpp"

#include <unistd.h>

#include "base/log.hpp"
#include "base/thread.hpp"
#include "base/wait.hpp"

namespace hiroba {

Status Watch::start(const Crew& crew, double timeout) {
  crew_ = &crew, timeout_ = timeout;
  return timeout > 0 ? start_thread(thread_, "hiroba-watch", main, this) : Status();
}

void Watch::stop() {
  if (thread_ == pthread_t{}) return;
  stopping_.store(true);
  pthread_join(thread_, nullptr);
  thread_ = {};
}

void* Watch::main(void* self) {
  Watch& watch = *static_cast<Watch*>(self);
  constexpr useconds_t pause = 20000;
  for (; !watch.stopping_.load(); usleep(pause)) watch.look();
  return nullptr;
}

// Reports a little before the barrier of other ranks that wait for this one ends the job, because that message has less
// information; and a rank where a body runs reports before ranks where none does.
void Watch::look() {
  const double early = crew_->runs_any() ? 0.9 : 0.95;
  const std::lock_guard<std::mutex> guard(lock_);
  if (call_ == nullptr) return;
  const int64_t ended = domain_->ended.load();
  const double now = seconds_now();
  if (seen_ != waits_ || ended != ended_) seen_ = waits_, ended_ = ended, since_ = now;
  else if (now - since_ > early * timeout_)
    end_job(1, "waited %.3g s (option timeout) in %s, and no task has ended: %s", now - since_, call_,
            crew_->describe().c_str());
}

}  // namespace hiroba
