#include "memory/cache/foresight.hpp"

#include <gtest/gtest.h>

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
}  // namespace hiroba
