#include "base/wait.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace hiroba {
namespace {

TEST(SignalSafeLock, ExcludesAlsoWithMoreThreadsThanCores) {
  SignalSafeLock lock;
  long counter = 0;  // a lost update shows
  std::vector<std::thread> pool;
  for (int k = 0; k < 6; ++k)
    pool.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        lock.lock();
        ++counter;
        lock.unlock();
      }
    });
  for (std::thread& thread : pool) thread.join();
  EXPECT_EQ(120000, counter);
}

// Runs on one CPU, with another thread that computes there.
class CrowdedCore : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(0, sched_getaffinity(0, sizeof all_, &all_));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &all_)) CPU_SET(cpu, &one);
    ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    other_ = std::thread([this] {
      while (!stops_) continue;
    });
  }
  void TearDown() override {
    stops_ = true;
    other_.join();
    sched_setaffinity(0, sizeof all_, &all_);
  }

 private:
  cpu_set_t all_;
  std::atomic<bool> stops_{false};
  std::thread other_;
};

TEST_F(CrowdedCore, SpinsInVainAreLeftOutAndTheWaitSleeps) {
  const auto spins_on = [] {
    int steps = 0;
    for (Backoff wait = Backoff::until_woken(spins_on_own_cpu); wait.step();) ++steps;
    return steps > spins_on_own_cpu;
  };
  constexpr int waits = 64;
  int least = waits;
  for (const double start = seconds_now(); least > 2 && seconds_now() < start + 10;) {
    int of_all = 0;
    for (int i = 0; i < waits; ++i) of_all += spins_on() ? 1 : 0;
    least = std::min(least, of_all);
  }
  EXPECT_LE(least, 2);
}

TEST_F(CrowdedCore, AWaitThatNobodyEndsSleepsBetweenItsLooks) {
  const auto processor_time = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  constexpr double wait_seconds = 0.2;
  double least = wait_seconds;
  for (const double start = seconds_now(); least > wait_seconds / 4 && seconds_now() < start + 10;) {
    const double before = processor_time();
    for (Backoff wait(spins_on_own_cpu, wait_seconds); wait.step();) continue;
    least = std::min(least, processor_time() - before);
  }
  EXPECT_LE(least, wait_seconds / 4);
}

TEST(Futex, AWaitEndsInTimeWhenNobodyWakes) {
  std::atomic<uint32_t> word{1};
  const double start = seconds_now();
  futex_wait(word, 1, 0.02);
  EXPECT_LT(seconds_now() - start, 5.0);
}

}  // namespace
}  // namespace hiroba
