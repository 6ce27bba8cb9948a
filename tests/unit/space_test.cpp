#include "memory/space/space.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace hiroba {
namespace {

constexpr uint64_t arrays = uint64_t{64} << 20;

TEST(Space, PlacesAreDisjointAndLeaveAGapAfterEach) {
  Space space;
  ASSERT_TRUE(space.reserve(arrays, arrays).ok());
  std::mt19937 random(1);
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (int round = 0; round < 500; ++round) {
    if (random() % 2 == 0 && !taken.empty()) {
      const size_t victim = random() % taken.size();
      space.give(taken[victim].first);
      taken.erase(taken.begin() + static_cast<long>(victim));
      continue;
    }
    const uint64_t bytes = 4096 * (1 + random() % 1024);
    uint64_t offset = 0;
    if (!space.take(bytes, space.stagger(), offset).ok()) continue;
    EXPECT_EQ(0u, offset % 4096);
    for (const auto& [other, size] : taken)
      EXPECT_TRUE(offset + bytes < other / Space::unit * Space::unit ||
                  other + size < offset / Space::unit * Space::unit);
    taken.emplace_back(offset, bytes);
  }
}

TEST(Space, FreshAddressesFirst) {
  Space space;
  ASSERT_TRUE(space.reserve(arrays, arrays).ok());
  uint64_t first = 0, second = 0;
  ASSERT_TRUE(space.take(4096, space.stagger(), first).ok());
  space.give(first);
  ASSERT_TRUE(space.take(4096, space.stagger(), second).ok());
  EXPECT_NE(first, second);
}

TEST(Space, TheRoomOfAnArrayReachesToItsNeighbours) {
  Space space;
  ASSERT_TRUE(space.reserve(arrays, arrays).ok());
  uint64_t at[3] = {};
  for (uint64_t& offset : at) ASSERT_TRUE(space.take(4096, space.stagger(), offset).ok());
  const auto begin = [](uint64_t offset) { return offset / Space::unit * Space::unit; };
  EXPECT_EQ(begin(at[1]), space.room_of(at[1]).begin);
  EXPECT_EQ(begin(at[2]), space.room_of(at[1]).end);
  space.give(at[1]);
  EXPECT_EQ(begin(at[2]), space.room_of(at[0]).end);
  EXPECT_EQ(begin(at[0]) + Space::unit, space.room_of(at[2]).begin);
  space.give(at[2]);
  EXPECT_EQ(begin(at[2]) + Space::unit, space.room_of(at[0]).end);
}

TEST(Space, ReusesWhatWasGivenBackAndSaysWhenItIsFull) {
  Space space;
  ASSERT_TRUE(space.reserve(arrays, arrays).ok());
  for (int round = 0; round < 200; ++round) {
    uint64_t offset = 0;
    ASSERT_TRUE(space.take(arrays / 4, space.stagger(), offset).ok());
    space.give(offset);
  }
  uint64_t offset = 0;
  const std::string message = space.take(arrays * 2, space.stagger(), offset).message();
  EXPECT_NE(std::string::npos, message.find("option space")) << message;
}

int mappings() {
  std::ifstream maps("/proc/self/maps");
  int lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

TEST(Space, FreedRangesAreNoMappingsOfTheirOwn) {
  Space space;
  ASSERT_TRUE(space.reserve(arrays, arrays).ok());
  const int before = mappings();
  for (uint64_t offset = 0; offset < arrays; offset += Space::unit) {
    ASSERT_NE(MAP_FAILED,
              mmap(space.base() + offset, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    ASSERT_TRUE(space.clear(offset, 4096).ok());
  }
  EXPECT_LE(mappings(), before + 2);
}

TEST(Space, WhatIsLargerThanAllOfItIsRefusedBeforeItIsLaidOut) {
  Space space;
  ASSERT_TRUE(space.reserve(arrays, arrays).ok());
  EXPECT_TRUE(space.check(arrays).ok());
  EXPECT_NE(std::string::npos, space.check(arrays + 4096).message().find("option space"));
}

TEST(Space, TwoInOneProcessAreRefusedWithTheReason) {
  Space one, two;
  ASSERT_TRUE(one.reserve(arrays, arrays).ok());
  const std::string message = two.reserve(arrays, arrays).message();
  EXPECT_NE(std::string::npos, message.find("cannot reserve")) << message;
  EXPECT_NE(std::string::npos, message.find("mapped among them: 2000")) << message;  // the line of /proc/self/maps
}

}  // namespace
}  // namespace hiroba
