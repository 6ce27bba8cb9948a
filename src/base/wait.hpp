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

#include <algorithm>
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

// Returns the number of spins when `busy` threads compete for `cpus` CPUs.
inline constexpr int spins_on_own_cpu = 200;
inline int spins_for(int busy, int cpus) { return busy <= cpus ? spins_on_own_cpu : 50; }

// Waits for other ranks yield for as long as the usual difference between ranks with equal work. A core that has slept
// is slower afterwards, mostly on virtual machines: a loop of 5 ms between barriers by 15 %.
constexpr double long_yielding = 3e-3;

// Runs the first two stages of a wait: a number of spins, then yields, for at least `yielding` seconds. step() returns
// false when the caller should sleep in the kernel.
//
// A yield that takes a time slice has given the core to a process that computes. A waiter that yields on a core that
// others use, too, runs once in all their slices and never gets its share. So for a while after such a yield, for
// longer each time that they find it so again, waits spin for longer, because the rank that they wait for may run just
// now, and then sleep: who sleeps keeps its share, and runs soon after it wakes up. Spins that are in vain, as where
// both ranks have the same core, are left out next time, and the more often the longer it goes on. In a job with more
// threads than CPUs yields give the core to other ranks, and go on.
class Backoff {
 public:
  explicit Backoff(int spins, double yielding = 0, int yields = 64)
      : spins_(spins), yields_(yields), yielding_(yielding), minds_others_(spins >= spins_on_own_cpu) {}

  Backoff(const Backoff&) = default;
  Backoff& operator=(const Backoff&) = default;
  ~Backoff() {
    if (stage_ == Stage::spins) vain_spins.store(0, std::memory_order_relaxed);
  }

  // Returns what precedes a sleep from which another rank wakes this one; it yields for `long_yielding` seconds.
  static Backoff until_woken(int spins) {
    Backoff backoff(spins, long_yielding);
    backoff.is_woken_ = true;
    return backoff;
  }

  bool step() {
    ++count_;
    if (count_ <= spins_) return cpu_relax(), true;
    const bool enough = count_ > spins_ + yields_;
    if (enough && yielding_ == 0) return false;
    const double begin = seconds_now();
    if (began_ == 0) began_ = begin;
    if (minds_others_ && is_crowded()) return share(begin - began_);
    if (enough && begin - began_ >= yielding_) return false;
    sched_yield();
    if (!minds_others_) return true;
    if (const double now = seconds_now(); now - begin > time_slice) note_crowd(now);
    return true;
  }

  // Gives the core to others that can run.
  static void yield() {
    if (is_crowded()) sleep_a_little();
    else sched_yield();
  }

 private:
  static constexpr double time_slice = 5e-4, shortest = 0.1, longest = 3.2;
  // All waits of this process share them: until when they sleep, or slept (0: never), and for how long.
  static inline std::atomic<double> crowded_until{0}, crowded_lasts{0};
  static inline std::atomic<uint32_t> vain_spins{0}, waits_without{0};  // one after another; to come, because of them

  static bool is_crowded() {
    const double until = crowded_until.load(std::memory_order_relaxed);
    return until != 0 && seconds_about_now() < until;
  }

  static void note_crowd(double now) {
    const double since = now - crowded_until.load(std::memory_order_relaxed);
    const bool again = since >= 0 && since < shortest;
    const double lasts = again ? std::min(2 * crowded_lasts.load(std::memory_order_relaxed), longest) : shortest;
    crowded_lasts.store(lasts, std::memory_order_relaxed);
    crowded_until.store(now + lasts, std::memory_order_relaxed);
  }

  static void sleep_a_little() {
    constexpr timespec little = {0, 50'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &little, nullptr);
  }

  // The next stage of a wait on a core that others use.
  bool share(double waited) {
    constexpr double spinning = 3e-4;
    if (stage_ == Stage::begins) stage_ = may_spin() ? Stage::spins : Stage::sleeps;
    if (stage_ == Stage::spins && waited < spinning) return cpu_relax(), true;
    if (stage_ == Stage::spins) note_vain_spin(), stage_ = Stage::sleeps;
    if (is_woken_ || waited >= yielding_) return false;
    return sleep_a_little(), true;
  }

  static bool may_spin() {
    const uint32_t left = waits_without.load(std::memory_order_relaxed);
    if (left > 0) waits_without.store(left - 1, std::memory_order_relaxed);
    return left == 0;
  }

  static void note_vain_spin() {
    constexpr uint32_t most = 6;
    const uint32_t vain = std::min(vain_spins.load(std::memory_order_relaxed) + 1, most);
    vain_spins.store(vain, std::memory_order_relaxed);
    waits_without.store((uint32_t{1} << vain) - 1, std::memory_order_relaxed);
  }

  enum class Stage : uint8_t { begins, spins, sleeps };
  int spins_, yields_, count_ = 0;
  double yielding_, began_ = 0;
  bool minds_others_, is_woken_ = false;
  Stage stage_ = Stage::begins;  // on a core that others use
};

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
