#include "transport/shm/ring.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <memory>
#include <thread>
#include <vector>

namespace hiroba {
namespace {

TEST(Ring, RefusesWhenFullAndGoesOnWhenEmptied) {
  auto ring = std::make_unique<Ring>();  // zero-filled, as shared memory is
  uint64_t value = 0;
  while (ring->push(0, 9, &value, sizeof value)) ++value;
  EXPECT_EQ(Ring::slots, value);
  uint64_t expected = 0;
  const auto take = [&](const Ring::Slot& slot) {
    uint64_t got = 0;
    std::memcpy(&got, slot.payload, sizeof got);
    EXPECT_EQ(expected++, got);
  };
  for (int lap = 0; lap < 1000; ++lap) {
    ASSERT_TRUE(ring->pop(take));
    ASSERT_TRUE(ring->push(0, 9, &value, sizeof value));
    ++value;
  }
  while (ring->pop(take)) {
  }
  EXPECT_EQ(value, expected);
}

TEST(Ring, ManyProducersLoseAndDoubleNothing) {
  auto ring = std::make_unique<Ring>();
  constexpr uint64_t producers = 3, each = 20000;
  std::vector<std::thread> pool;
  for (uint64_t p = 0; p < producers; ++p)
    pool.emplace_back([&, p] {
      for (uint64_t i = 0; i < each;) {
        const uint64_t word[2] = {p, i};
        if (ring->push(static_cast<int>(p), 8, word, sizeof word)) ++i;
        else sched_yield();
      }
    });
  uint64_t next[producers] = {}, total = 0;
  while (total < producers * each) {
    const bool any = ring->pop([&](const Ring::Slot& slot) {
      uint64_t word[2];
      std::memcpy(word, slot.payload, sizeof word);
      ASSERT_EQ(next[word[0]]++, word[1]);
      ++total;
    });
    if (!any) sched_yield();
  }
  for (std::thread& thread : pool) thread.join();
}

}  // namespace
}  // namespace hiroba
