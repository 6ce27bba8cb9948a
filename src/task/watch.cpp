#include "task/watch.hpp"

#include <unistd.h>

#include "base/log.hpp"
#include "base/thread.hpp"
#include "base/wait.hpp"

namespace hiroba {

Status Watch::start(const Crew& crew, const Domain& domain, double timeout) {
  crew_ = &crew, domain_ = &domain, timeout_ = timeout;
  return timeout > 0 ? start_thread(thread_, "hiroba-watch", main, this) : Status();
}

void Watch::stop() {
  if (thread_ == pthread_t{}) return;
  stopping_.store(true);
  pthread_join(thread_, nullptr);
  thread_ = {};
}

// A little before the barrier ends the job in which other ranks wait for this one, and which knows less.
void* Watch::main(void* self) {
  Watch& watch = *static_cast<Watch*>(self);
  constexpr double early = 0.9;
  constexpr useconds_t look = 20000;
  int64_t ended = -1;
  for (double since = seconds_now(); !watch.stopping_.load(); usleep(look)) {
    const char* const call = watch.call_.load();
    const int64_t now_ended = watch.domain_->ended.load();
    const double now = seconds_now();
    if (call == nullptr || now_ended != ended) ended = now_ended, since = now;
    else if (now - since > early * watch.timeout_)
      end_job(1, "waited %.3g s (option timeout) in %s, and no task has ended: %s", now - since, call,
              watch.crew_->describe().c_str());
  }
  return nullptr;
}

}  // namespace hiroba
