// Free ranges against a set of single free units.
#include "base/ranges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace hiroba {
namespace {

TEST(Ranges, NeighboursAreJoined) {
  FreeRanges free;
  free.add(10, 5), free.add(20, 5), free.add(15, 5);
  EXPECT_EQ(free.ranges(), (std::map<uint64_t, uint64_t>{{10, 15}}));
  free.remove(12, 3);
  EXPECT_EQ(free.ranges(), (std::map<uint64_t, uint64_t>{{10, 2}, {15, 10}}));
}

TEST(Ranges, TakesTheFirstRoomThatBeginsAtAMultiple) {
  std::mt19937 random(3);
  FreeRanges ranges;
  std::set<uint64_t> free;
  std::map<uint64_t, uint64_t> taken;
  ranges.add(3, 200);
  for (uint64_t i = 3; i < 203; ++i) free.insert(i);
  const auto is_free = [&](uint64_t begin, uint64_t bytes) {
    for (uint64_t i = begin; i < begin + bytes; ++i)
      if (!free.contains(i)) return false;
    return true;
  };
  for (int turn = 0; turn < 2000; ++turn) {
    if (random() % 2 == 0 && !taken.empty()) {
      const auto [begin, bytes] = *std::next(taken.begin(), random() % taken.size());
      ranges.add(begin, bytes), taken.erase(begin);
      for (uint64_t i = begin; i < begin + bytes; ++i) free.insert(i);
      continue;
    }
    const uint64_t bytes = 1 + random() % 30, unit = 1 << random() % 5;
    uint64_t expected = 0, begin = 0;
    while (expected < 203 && !is_free(expected, bytes)) expected += unit;
    ASSERT_EQ(ranges.take(bytes, unit, begin), expected < 203) << turn;
    if (expected >= 203) continue;
    ASSERT_EQ(begin, expected) << turn;
    taken[begin] = bytes;
    for (uint64_t i = begin; i < begin + bytes; ++i) free.erase(i);
  }
}

}  // namespace
}  // namespace hiroba
