#include "base/wait.hpp"

#include <gtest/gtest.h>
#include <sched.h>

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

TEST_F(CrowdedCore, AWaitThatIsWokenSleepsAtOnceAndOthersSpin) {
  const auto sleeps_at_once = [] { return !Backoff::until_woken(spins_on_own_cpu).step(); };
  for (const double start = seconds_now(); !sleeps_at_once() && seconds_now() < start + 10;)
    for (Backoff wait = Backoff::until_woken(spins_on_own_cpu); wait.step();) continue;
  EXPECT_TRUE(sleeps_at_once());
  EXPECT_TRUE(Backoff(spins_on_own_cpu, long_yielding).step());
  EXPECT_TRUE(Backoff::until_woken(spins_for(3, 2)).step());
}

TEST(Futex, AWaitEndsInTimeWhenNobodyWakes) {
  std::atomic<uint32_t> word{1};
  const double start = seconds_now();
  futex_wait(word, 1, 0.02);
  EXPECT_LT(seconds_now() - start, 5.0);
}

}  // namespace
}  // namespace hiroba
