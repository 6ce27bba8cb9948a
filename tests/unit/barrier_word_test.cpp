// A rank's word in a barrier with notices, and the sets of nodes in it.
#include "memory/sync/barrier_word.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hiroba {
namespace {

TEST(BarrierWord, IsUnpackedAsItWasPacked) {
  BarrierWord word;
  word.notices = 255, word.nodes = NearNodes::far | 5, word.covered = (uint64_t{1} << 36) - 1;
  for (const bool unknown : {false, true}) {
    word.unknown = unknown, word.says_homes = !unknown;
    const BarrierWord out = BarrierWord::unpack(word.pack());
    EXPECT_EQ(word.notices, out.notices);
    EXPECT_EQ(word.nodes, out.nodes);
    EXPECT_EQ(word.covered, out.covered);
    EXPECT_EQ(word.unknown, out.unknown);
    EXPECT_EQ(word.says_homes, out.says_homes);
  }
  EXPECT_EQ(0u, BarrierWord().pack());
}

TEST(BarrierWord, ManyNoticesAreALittleMoreThanThereAre) {
  for (uint64_t count = 0; count < uint64_t{1} << 26; count += 1 + count / 37) {
    BarrierWord word;
    word.notices = count;
    const uint64_t out = BarrierWord::unpack(word.pack()).notices;
    EXPECT_LE(count, out);
    if (count < 256) EXPECT_EQ(count, out);
    else EXPECT_LE(out - count, count / 32) << count;
  }
}

bool meets(const std::set<int>& written, int from, int nnodes, const std::set<int>& wanted) {
  uint32_t set = 0;
  for (const int node : written) set |= NearNodes::bit(from, node, nnodes);
  return NearNodes::meets(set, from, nnodes, static_cast<int>(wanted.size()),
                          [&](int node) { return wanted.count(node) != 0; });
}

TEST(NearNodes, OfFewNodesAllAreToldApart) {
  for (const int n : {1, 2, 3, 4, 8, 14, 15})
    for (int from = 0; from < n; ++from)
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) EXPECT_EQ(a == b, meets({a}, from, n, {b})) << n << from << a << b;
}

TEST(NearNodes, OfManyNodesTheNearOnesAre) {
  constexpr int n = 64;
  for (int from = 0; from < n; ++from)
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        const bool both_far =
            std::abs(NearNodes::distance(from, a, n)) > 7 && std::abs(NearNodes::distance(from, b, n)) > 7;
        EXPECT_EQ(a == b || both_far, meets({a}, from, n, {b})) << from << a << b;
      }
  EXPECT_FALSE(meets({}, 3, n, {0, 1, 2, 3}));
  EXPECT_FALSE(meets({3, 4}, 3, n, {}));
  EXPECT_TRUE(meets({2, 40}, 3, n, {5, 39}));
  EXPECT_FALSE(meets({2, 40}, 3, n, {5, 6, 63})) << "63 is near 3";
}

}  // namespace
}  // namespace hiroba
