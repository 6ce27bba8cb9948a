// The progress engine: decides which thread drives the wire, and when. One per rank.
//
// A waiting thread drives: it polls the wire under the engine's lock, first spinning, then yielding, then dozing. A
// progress thread drives while no thread waits: it serves other ranks and moves this rank's transfers while the program
// computes. A dozing thread sleeps on the wire's event if there is one, else on the bell for half a millisecond at a
// time; a thread that causes an event rings the bell.
//
// Threads: everything except start and stop is thread-safe, and may be called from a page-fault handler, because the
// lock's holder never accesses memory that can fault. A hook of the wire (inside drive()) may call with_wire().
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>

#include "base/debugger.hpp"
#include "base/status.hpp"
#include "base/thread.hpp"
#include "base/wait.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

class Engine {
 public:
  struct Config {
    Wire* wire = nullptr;
    Placement placement;
    int spins = 0;
    // The program calls the network library itself: a thread that faults may be inside it, so only the progress thread
    // drives for it.
    bool program_uses_library = false;
    // Called under the lock before each poll, to send batched frames.
    void (*before_poll)(void* context) = nullptr;
    // Called under the lock after each poll, for work that waits for room or time; returns true if it did anything.
    bool (*after_poll)(void* context) = nullptr;
    // Returns true if data is moving; then no thread sleeps, because polls that move some of it look like polls without
    // result.
    bool (*moving)(void* context) = nullptr;
    // Called by threads that wait, outside of the lock and of the page-fault handler; see Transport::Config.
    bool (*meantime)(void* context) = nullptr;
    void* context = nullptr;
  };

  Status start(const Config& config);
  void stop();

  // Runs `work` with exclusive access to the wire and its state.
  template <typename Work>
  void with_wire(const Work& work) {
    if (inside()) return work();
    lock_.lock();
    owner_.store(pthread_self(), std::memory_order_relaxed);
    work();
    release();
  }

  // Makes the progress thread leave the wire to threads that wait, because the exit handlers of its library run next.
  void end_progress();

  // Polls unless another thread does; returns true if anything happened.
  bool drive(bool as_progress_thread = false);
  // Drives although this thread waits for nothing, until nothing has arrived for some microseconds.
  void linger();
  // Returns true if this thread is in a hook of the wire.
  bool inside() const { return owner_.load(std::memory_order_relaxed) == pthread_self(); }

  // Drives until done() or until `seconds` have passed; returns done().
  template <typename Done>
  bool wait(const Done& done, double seconds = std::numeric_limits<double>::infinity()) {
    if (done()) return true;
    const Waiting waiting(*this);
    const bool forever = seconds == std::numeric_limits<double>::infinity();
    const double deadline = forever ? seconds : seconds_now() + seconds;
    // Spins for the likely duration of the wait: a wakeup costs more than most answers, and an early nap makes the
    // other ranks wait and nap in turn.
    Backoff backoff(config_.spins, long_yielding);
    double nap = first_nap;
    for (;;) {
      const uint32_t seen = bell_.load();
      if (done()) return true;
      if (waiting.may_drive && (drive() || work_meantime())) {
        backoff = Backoff(config_.spins, long_yielding);
        nap = first_nap;
      } else if (!backoff.step() && !yield_to_moving()) {
        const double left = deadline - seconds_now();
        if (left <= 0) return done();
        if (!waiting.may_drive && !debugging() && seconds_now() - waiting.since > stuck_seconds) report_stuck();
        doze(seen, std::min(left, nap), waiting.may_drive);
        nap = longer(nap);
      }
    }
  }

  // Drives until done(word) or the time `deadline`, for a futex word in memory that other processes share. A process
  // that changes the word must wake its sleepers.
  template <typename Done>
  bool wait_word(std::atomic<uint32_t>& word, const Done& done, double deadline) {
    if (done(word.load())) return true;
    {
      const Waiting waiting(*this);
      for (Backoff backoff(config_.spins, long_yielding); backoff.step();) {
        if (done(word.load())) return true;
        if (drive()) backoff = Backoff(config_.spins, long_yielding);
      }
    }
    for (double nap = first_nap; seconds_now() < deadline;
         nap = longer(nap)) {  // the progress thread drives from here on
      const uint32_t now = word.load();
      if (done(now)) return true;
      futex_wait(word, now, has_progress_thread_ ? 0.1 : nap);
      if (!has_progress_thread_) drive();
      work_meantime();
    }
    return done(word.load());
  }

  // Requires the lock. Counts a put, get, atomic operation or message served for another rank.
  void note_served() { served_.store(served_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  // Sleeps until something has happened, or for `seconds`.
  void sleep(double seconds);
  // Wakes dozing threads: there is something to do or to see.
  void ring();

  // Mark the begin and end of the page-fault handler in this thread.
  static void enter_fault() { ++in_fault; }
  static void leave_fault() { --in_fault; }

 private:
  struct Waiting {
    explicit Waiting(Engine& e)
        : engine(e), may_drive(in_fault == 0 || !e.config_.program_uses_library || !e.has_progress_thread_) {
      if (may_drive) engine.drivers_.fetch_add(1);
      else engine.wake_progress_thread();
    }
    ~Waiting() {
      if (may_drive && engine.drivers_.fetch_sub(1) == 1 && engine.parked_.load()) engine.wake_progress_thread();
    }
    Engine& engine;
    const bool may_drive;
    const double since = seconds_now();
  };
  // Limit for a page fault inside a call of the network library, whose locks the progress thread needs to serve it.
  static constexpr double stuck_seconds = 5;
  [[noreturn]] void report_stuck() const;
  static thread_local int in_fault;

  // Polling interval of a wire without an event while nothing happens: short enough for a rank that requests memory of
  // a computing one, long enough to cost less than one per cent of a core.
  static constexpr double first_nap = 0.5e-3, longest_nap = 5e-3;
  // The progress thread takes over if no thread has driven for this time, which grows each time that it was not needed.
  // A poll costs a timer and two thread switches.
  static constexpr double first_back_off = 0.5e-3, longest_back_off = 20e-3;
  static double longer(double nap) { return std::min(nap * 1.25, longest_nap); }

  void release();
  bool work_meantime() const { return in_fault == 0 && !inside() && config_.meantime(config_.context); }
  void doze(uint32_t seen, double seconds, bool on_wire);
  void doze_on_event(uint32_t seen);
  void doze_as_progress_thread(uint32_t called, double seconds);
  bool yield_to_moving() const;
  void wake_progress_thread();
  void run_progress_thread();
  bool back_off(uint32_t called, double seconds);

  Config config_;
  SignalSafeLock lock_;  // guards the wire
  std::atomic<pthread_t> owner_{};
  std::atomic<uint32_t> bell_{0};     // futex: counts rings
  std::atomic<uint32_t> dozing_{0};   // threads that a ring must wake
  std::atomic<uint32_t> drivers_{0};  // threads that wait and drive
  std::atomic<uint32_t> uses_{0};     // drives by threads other than the progress thread
  std::atomic<uint32_t> served_{0};   // requests served for others
  int bell_fd_ = -1;                  // for threads that doze on the wire's event
  std::atomic<uint32_t> dozing_on_event_{0};

  pthread_t progress_thread_{};
  bool has_progress_thread_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> parked_{false};         // the progress thread sleeps until it is called
  std::atomic<uint32_t> progress_bell_{0};  // futex
};

}  // namespace hiroba
