// Waiting for another thread or process: spin briefly, yield, then sleep in the kernel. On a machine with more ranks
// than cores the waking thread needs the core of the spinning one, so spinning is short there.
//
// Futex words live in memory shared by processes. Everything here is safe in a signal handler.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace hiroba {

inline double seconds_now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Returns seconds_now() with a resolution of some milliseconds, in a fifth of the time.
inline double seconds_about_now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Sleeps while *word == expected, at most `seconds`; may return early.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t expected, double seconds) {
  const timespec limit = {static_cast<time_t>(seconds),
                          static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

inline void futex_wake_one(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

inline void futex_wake_all(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

// Runs the first two stages of a wait: a number of spins, then yields, for at least `yielding` seconds. step() returns
// false when the caller should sleep in the kernel.
class Backoff {
 public:
  explicit Backoff(int spins, double yielding = 0, int yields = 64)
      : spins_(spins), yields_(yields), yielding_(yielding) {}
  bool step() {
    if (count_ < spins_) return ++count_, cpu_relax(), true;
    if (count_ >= spins_ + yields_ && !go_on_yielding()) return false;
    ++count_;
    sched_yield();
    return true;
  }

 private:
  bool go_on_yielding() {
    if (yielding_ == 0) return false;
    const double now = seconds_now();
    if (since_ == 0) since_ = now;
    return now - since_ < yielding_;
  }
  int spins_, yields_, count_ = 0;
  double yielding_, since_ = 0;
};

// Returns the number of spins when `busy` threads compete for `cpus` CPUs.
inline int spins_for(int busy, int cpus) { return busy <= cpus ? 200 : 50; }

// Waits for other ranks yield for as long as the usual difference between ranks with equal work. A core that has slept
// is slower afterwards, mostly on virtual machines: a loop of 5 ms between barriers by 15 %.
constexpr double long_yielding = 3e-3;

// A mutual-exclusion lock between threads of one process. A signal handler may take it if no holder touches memory
// whose access raises that signal. It is held for microseconds and is not recursive.
class SignalSafeLock {
 public:
  void lock() {
    Backoff backoff(200);
    uint32_t free = 0;
    while (!word_.compare_exchange_weak(free, 1, std::memory_order_acquire)) {
      free = 0;
      if (!backoff.step() && word_.exchange(2, std::memory_order_acquire) == 0) return;
      if (word_.load(std::memory_order_relaxed) == 2) futex_wait(word_, 2, 0.01);
    }
  }
  bool try_lock() {
    uint32_t free = 0;
    return word_.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }
  void unlock() {
    if (word_.exchange(0, std::memory_order_release) == 2) futex_wake_all(word_);
  }

 private:
  std::atomic<uint32_t> word_{0};  // 0 free, 1 held, 2 held with sleepers
};

}  // namespace hiroba
