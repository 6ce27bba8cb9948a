#include "memory/cache/foresight.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace hiroba {
namespace {

using Runs = std::vector<PageRun>;

// Ends a span in which these were preloaded.
Runs turn(Foresight& foresight, const Runs& preloaded) {
  for (const PageRun& run : preloaded) foresight.note(run.first, run.first + run.pages);
  const auto expected = foresight.turn();
  return {expected.begin(), expected.end()};
}

const Runs a = {{10, 3}, {40, 1}}, b = {{100, 3}}, none;

TEST(Foresight, TheSameSpanTwiceIsExpectedAgain) {
  Foresight f;
  EXPECT_EQ(none, turn(f, a));
  EXPECT_EQ(a, turn(f, a));
  EXPECT_EQ(a, turn(f, a));
}

TEST(Foresight, TwoSpansThatTakeTurns) {
  Foresight f;
  EXPECT_EQ(none, turn(f, a));
  EXPECT_EQ(none, turn(f, b));
  EXPECT_EQ(b, turn(f, a));
  EXPECT_EQ(a, turn(f, b));
}

TEST(Foresight, WhatBreaksThePatternIsFollowedByNothing) {
  Foresight f;
  turn(f, a), turn(f, a);
  EXPECT_EQ(none, turn(f, b));
  EXPECT_EQ(b, turn(f, a)) << "a, b, a may be two that take turns";
  EXPECT_EQ(a, turn(f, a));
}

TEST(Foresight, SpansWithoutPreloadsAndWithTooManyAreNoPattern) {
  Foresight f;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(none, turn(f, none));
  Runs many;
  for (uint64_t i = 0; i < 100; ++i) many.push_back({i * 10, 1});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(none, turn(f, many));
}

}  // namespace
TEST(FaultNotes, RunsThatFollowAreOne) {
  auto notes = std::make_unique<FaultNotes>();
  notes->note(1, 1);
  EXPECT_EQ(std::vector<PageRun>(), notes->end()) << "before begin() nothing is noted";
  notes->begin();
  notes->note(7, 2), notes->note(9, 1), notes->note(3, 1);
  EXPECT_EQ((std::vector<PageRun>{{7, 3}, {3, 1}}), notes->end());
  notes->note(20, 1);
  notes->begin();
  EXPECT_EQ(std::vector<PageRun>(), notes->end());
}

TEST(FaultNotes, ThereIsRoomForThousandsOnly) {
  auto notes = std::make_unique<FaultNotes>();
  notes->begin();
  for (uint64_t page = 0; page < 10000; ++page) notes->note(2 * page, 1);
  const std::vector<PageRun> runs = notes->end();
  EXPECT_EQ(4096U, runs.size());
  EXPECT_EQ((PageRun{8190, 1}), runs.back());
}

}  // namespace hiroba
