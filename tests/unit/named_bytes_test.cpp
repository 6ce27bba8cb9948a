#include "memory/check/named_bytes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace hiroba {
namespace {

using ByteRun = NamedBytes::Run;

TEST(NamedBytes, JoinsRunsThatTouch) {
  const NamedBytes bytes({{30, 40}, {10, 20}, {20, 25}, {38, 50}});
  EXPECT_EQ(bytes.runs(), (std::vector<ByteRun>{{10, 25}, {30, 50}}));
}

TEST(NamedBytes, KnowsWhatIsMissing) {
  const NamedBytes bytes({{10, 20}, {30, 40}});
  EXPECT_TRUE(bytes.have(10, 20));
  EXPECT_TRUE(bytes.have(12, 12));
  EXPECT_FALSE(bytes.have(9, 11));
  EXPECT_EQ(bytes.first_gap(15, 35), 20U);
  EXPECT_EQ(bytes.first_gap(5, 35), 5U);
  EXPECT_EQ(bytes.first_gap(40, 41), 40U);
  EXPECT_EQ(NamedBytes().first_gap(3, 4), 3U);
}

TEST(NamedBytes, EqualsASetOfBytes) {
  std::mt19937 random(1);
  const auto below = [&](uint64_t n) { return random() % n; };
  constexpr uint64_t most = 64;
  for (int round = 0; round < 2000; ++round) {
    std::vector<ByteRun> runs(below(6));
    std::set<uint64_t> all;
    for (ByteRun& run : runs) {
      run.begin = below(most), run.end = run.begin + 1 + below(10);
      for (uint64_t b = run.begin; b < run.end; ++b) all.insert(b);
    }
    const NamedBytes bytes(runs);
    const uint64_t begin = below(most), end = begin + below(most);
    std::set<uint64_t> gaps, expected;
    bytes.for_each_gap(begin, end, [&](uint64_t from, uint64_t to) {
      for (uint64_t b = from; b < to; ++b) EXPECT_TRUE(gaps.insert(b).second);
    });
    for (uint64_t b = begin; b < end; ++b)
      if (all.count(b) == 0) expected.insert(b);
    EXPECT_EQ(gaps, expected);
    EXPECT_EQ(bytes.first_gap(begin, end), expected.empty() ? end : *expected.begin());
  }
}

}  // namespace
}  // namespace hiroba
