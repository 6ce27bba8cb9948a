#include "transport/wire/engine.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/debug/symbols.hpp"
#include "base/ending.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/tables/phrases.hpp"
#include "base/thread.hpp"

namespace hiroba {

namespace {
constexpr double event_seconds = 0.1;  // the longest sleep on an event
}

thread_local int Engine::in_fault = 0;

Status Engine::start(const Config& config) {
  config_ = config;
  bell_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_fd_ < 0) return Status::error("cannot make an event descriptor (%s)", explain_error(errno).c_str());
  if (config.placement.kind == Placement::Kind::none) return {};
  const auto run = [](void* self) -> void* { return static_cast<Engine*>(self)->run_progress_thread(), nullptr; };
  HIROBA_TRY(start_thread(progress_thread_, "hiroba-progress", run, this));
  has_progress_thread_ = true;
  set_exit_hook([](void* self) { static_cast<Engine*>(self)->end_progress(); }, this);
  return config_.placement.apply(progress_thread_);
}

void Engine::stop() {
  if (has_progress_thread_) {
    set_exit_hook(nullptr, nullptr);
    stopping_.store(true);
    ring();
    wake_progress_thread();
    pthread_join(progress_thread_, nullptr);
    has_progress_thread_ = false;
  }
  if (bell_fd_ >= 0) close(bell_fd_);
  bell_fd_ = -1;
}

void Engine::end_progress() {
  drivers_.fetch_add(1);
  with_wire([] {});  // it has left the wire
}

void Engine::release() {
  owner_.store(pthread_t{}, std::memory_order_relaxed);
  lock_.unlock();
}

bool Engine::drive(bool as_progress_thread) {
  if (!lock_.try_lock()) return false;
  owner_.store(pthread_self(), std::memory_order_relaxed);
  if (!as_progress_thread) uses_.fetch_add(1, std::memory_order_relaxed);
  config_.before_poll(config_.context);
  bool any = config_.wire->poll();
  any = config_.after_poll(config_.context) || any;
  release();
  if (any) ring();
  return any;
}

void Engine::linger() {
  constexpr double quiet = 5e-6, most = 100e-6;
  const double start = seconds_now();
  for (double last = start, now = start; now - last < quiet && now - start < most; now = seconds_now())
    if (drive()) last = now;
}

void Engine::ring() {
  bell_.fetch_add(1);
  if (dozing_.load() != 0) futex_wake_all(bell_);
  if (dozing_on_event_.load() != 0) {
    const uint64_t one = 1;
    if (write(bell_fd_, &one, sizeof one) < 0) return;  // full: it rings already
  }
}

void Engine::doze(uint32_t seen, double seconds, bool on_wire) {
  if (on_wire && config_.wire->event() >= 0) return doze_on_event(seen);
  dozing_.fetch_add(1);
  futex_wait(bell_, seen, on_wire ? seconds : 0.01);
  dozing_.fetch_sub(1);
}

void Engine::doze_on_event(uint32_t seen) {
  bool armed = false;
  if (lock_.try_lock()) {
    armed = config_.wire->arm();
    lock_.unlock();
    if (!armed) return;  // something has arrived
  }
  dozing_on_event_.fetch_add(1);
  if (bell_.load() == seen) {
    pollfd sources[] = {{config_.wire->event(), POLLIN, 0}, {bell_fd_, POLLIN, 0}};
    // A thread that could not arm has not polled the wire, so it polls again soon.
    ::poll(sources, 2, armed ? static_cast<int>(event_seconds * 1e3) : 1);
  }
  dozing_on_event_.fetch_sub(1);
  uint64_t rings;
  if (read(bell_fd_, &rings, sizeof rings) < 0) return;  // no ring
}

// The progress thread wakes for the network and its own bell only: other threads handle the events that they cause.
void Engine::doze_as_progress_thread(uint32_t called, double seconds) {
  if (config_.wire->event() < 0) return futex_wait(progress_bell_, called, seconds);
  if (!lock_.try_lock()) {
    back_off(called, first_back_off);
    return;
  }
  const bool armed = config_.wire->arm();
  lock_.unlock();
  pollfd source = {config_.wire->event(), POLLIN, 0};
  if (armed) ::poll(&source, 1, static_cast<int>(event_seconds * 1e3));
}

bool Engine::yield_to_moving() const {
  if (!config_.moving(config_.context)) return false;
  sched_yield();
  return true;
}

void Engine::report_stuck() const {
  if (first_to_report(1)) {
    log_line(
        "a page fault has waited for %.0f s. It happened where the program stands below; if that is inside an MPI "
        "call, MPI reads or writes shared memory of another node there and holds locks that fetching needs. "
        "Bring the pages first (%s), pass a private buffer, or use --transport ucx",
        stuck_seconds, phrases().bring_pages);
    print_stack();
  }
  const EndWithin limit(1, 1);
  flush_program_output();
  _exit(1);
}

void Engine::sleep(double seconds) {
  const uint32_t seen = bell_.load();
  if (!drive() && (config_.wire->event() >= 0 || !yield_to_moving())) doze(seen, seconds, true);
}

void Engine::wake_progress_thread() {
  if (!has_progress_thread_) return;
  progress_bell_.fetch_add(1);
  futex_wake_all(progress_bell_);
}

void Engine::run_progress_thread() {
  // A progress thread that polls gives way to computing threads, by its niceness. It keeps some time if they take all
  // cores: with SCHED_IDLE it could be stopped for milliseconds while it holds the engine's lock.
  constexpr int polite = 10;
  if (config_.placement.kind == Placement::Kind::thread && config_.wire->event() < 0)
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), polite);
  // A wire with an event wakes the thread when needed. A wire without one is polled for a while after this rank has
  // served a request; messages for a program that computes can wait.
  const bool called_by_event = config_.wire->event() >= 0;
  const Backoff patient = called_by_event ? Backoff(100, 0, 0) : Backoff(100, long_yielding);
  Backoff backoff = patient;
  double nap = first_nap, behind = first_back_off;
  uint32_t seen = 0;
  bool needed = false;  // since it has taken over
  while (!stopping_.load()) {
    const uint32_t called = progress_bell_.load(), uses = uses_.load();
    if (drivers_.load() != 0 || uses != seen) {
      if (needed) behind = first_back_off;
      const bool parked = back_off(called, behind);
      behind = parked ? first_back_off : std::min(2 * behind, longest_back_off);
      seen = uses, needed = false;
      continue;
    }
    const uint32_t served = served_.load(std::memory_order_relaxed);
    const bool any = drive(true);
    if (any) nap = first_nap;
    if (served_.load(std::memory_order_relaxed) != served) {
      needed = true;
      backoff = patient;
    } else if (any && called_by_event && !config_.moving(config_.context)) {
      // The program's threads will see messages for them: waking for each message costs them more.
      back_off(called, behind);
      behind = std::min(2 * behind, longest_back_off);
    } else if (!any && !backoff.step() && (called_by_event || !yield_to_moving())) {
      doze_as_progress_thread(called, nap);
      nap = longer(nap);
    }
  }
}

// Another thread drives, or has just done so and may continue. If one waits for long, the progress thread sleeps until
// it is called, and this returns true. A call after every wait, or wakeups by the network, would cost ranks that
// communicate much more than their waits.
bool Engine::back_off(uint32_t called, double seconds) {
  const bool park = seconds >= longest_back_off && drivers_.load() != 0;
  parked_.store(park);
  if (!park || drivers_.load() != 0) futex_wait(progress_bell_, called, park ? event_seconds : seconds);
  parked_.store(false);
  return park;
}

}  // namespace hiroba
