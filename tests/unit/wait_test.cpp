#include "base/wait.hpp"

#include <gtest/gtest.h>

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

TEST(Futex, AWaitEndsInTimeWhenNobodyWakes) {
  std::atomic<uint32_t> word{1};
  const double start = seconds_now();
  futex_wait(word, 1, 0.02);
  EXPECT_LT(seconds_now() - start, 5.0);
}

}  // namespace
}  // namespace hiroba
