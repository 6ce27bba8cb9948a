// The progress engine: who drives the wire, and when. One per rank.
//
// Whoever waits drives: a waiting thread polls the wire under the engine's lock, first spinning, then yielding, then
// dozing. A progress thread covers the time when nobody waits: it serves other ranks and moves this rank's transfers
// while the program computes. Dozing means sleeping on the wire's event where it has one, else on the bell for half a
// millisecond at a time; whoever makes something happen rings the bell.
//
// Threads: everything is thread-safe but start and stop, and may be called from a page-fault handler, because the
// lock's holder never touches memory that can fault. with_wire() may be called from a hook of the wire (inside
// drive()).
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
    // Called under the lock before each poll, to send what has been gathered for it.
    void (*before_poll)(void* context) = nullptr;
    // Called under the lock after each poll, for work that waits for room or time; true if it did anything.
    bool (*after_poll)(void* context) = nullptr;
    // Whether data is moving; then nobody sleeps, because polls that move some of it look like polls that found
    // nothing.
    bool (*moving)(void* context) = nullptr;
    // Called by threads that wait, outside of the lock and of the page-fault handler; see Transport::Config.
    bool (*meantime)(void* context) = nullptr;
    void* context = nullptr;
  };

  Status start(const Config& config);
  void stop();

  // Runs `work` as the only one who uses the wire, and the state that belongs to it.
  template <typename Work>
  void with_wire(const Work& work) {
    if (inside()) return work();
    lock_.lock();
    owner_.store(pthread_self(), std::memory_order_relaxed);
    work();
    release();
  }

  // From here on the progress thread leaves the wire to threads that wait: the exit handlers of its library come.
  void end_progress();

  // Polls unless somebody else does; true if anything happened.
  bool drive(bool as_progress_thread = false);
  // Drives although this thread waits for nothing, until nothing has come for some microseconds.
  void linger();
  // Whether this thread is in a hook of the wire.
  bool inside() const { return owner_.load(std::memory_order_relaxed) == pthread_self(); }

  // Drives until done() or until `seconds` have passed; returns done().
  template <typename Done>
  bool wait(const Done& done, double seconds = std::numeric_limits<double>::infinity()) {
    if (done()) return true;
    const Waiting waiting(*this);
    const bool forever = seconds == std::numeric_limits<double>::infinity();
    const double deadline = forever ? seconds : seconds_now() + seconds;
    // As long as what it waits for may well take: to be woken costs more than most answers, and a nap too early makes
    // the others wait and nap in turn.
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

  // The same for a futex word in memory that other processes share, until done(word) or the time `deadline`. Whoever
  // changes the word must wake its sleepers.
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
    }
    return done(word.load());
  }

  // Under the lock: something has been done for another rank, a put, get, atomic operation or message.
  void note_served() { served_.store(served_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  // Sleeps until something has happened, or for `seconds`.
  void sleep(double seconds);
  // There is something to do or to see for whoever dozes.
  void ring();

  // Between these, this thread runs in the page-fault handler.
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
  // A page fault in the middle of a call of the network library, whose locks the progress thread needs to serve it.
  static constexpr double stuck_seconds = 5;
  [[noreturn]] void report_stuck() const;
  static thread_local int in_fault;

  // A wire without an event is polled this often while nothing happens: often enough for a rank that is asked for
  // memory while it computes, rare enough to cost less than one per cent of a core.
  static constexpr double first_nap = 0.5e-3, longest_nap = 5e-3;
  // The progress thread takes over when nobody has driven for so long: longer each time that nobody needed it. To look
  // costs a timer and two switches of threads.
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
  std::atomic<uint32_t> drivers_{0};  // threads that wait and drive meanwhile
  std::atomic<uint32_t> uses_{0};     // counts how often others than the progress thread drove
  std::atomic<uint32_t> served_{0};   // counts what has been done for others
  int bell_fd_ = -1;                  // for those who doze on the wire's event
  std::atomic<uint32_t> dozing_on_event_{0};

  pthread_t progress_thread_{};
  bool has_progress_thread_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> parked_{false};         // the progress thread sleeps until it is called
  std::atomic<uint32_t> progress_bell_{0};  // futex
};

}  // namespace hiroba
