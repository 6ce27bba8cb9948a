// Sets of integers that loops touch: against sets written out.
#include "loops/progression.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace hiroba {
namespace {

std::set<int64_t> written_out(const Progression& p) {
  std::set<int64_t> out;
  for (int64_t k = 0; k < p.count; ++k)
    for (int64_t w = 0; w < p.width; ++w) out.insert(p.first + k * p.step + w);
  return out;
}

TEST(Progression, common_is_the_smallest_that_both_have) {
  std::mt19937 random(1);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  int met = 0;
  for (int round = 0; round < 20000; ++round) {
    const Progression a = {below(40) - 20, 1 + below(12), 1 + below(8), 1 + below(4)};
    const Progression b = {below(40) - 20, 1 + below(12), 1 + below(8), 1 + below(4)};
    const std::set<int64_t> left = written_out(a), right = written_out(b);
    std::optional<int64_t> expected;
    for (const int64_t x : left)
      if (right.count(x) > 0 && !expected) expected = x;
    ASSERT_EQ(common(a, b), expected) << a.first << " " << a.step << " " << a.count << " " << a.width << " and "
                                      << b.first << " " << b.step << " " << b.count << " " << b.width;
    met += expected.has_value();
  }
  EXPECT_GT(met, 2000);
}

TEST(Progression, spread_is_exact_where_it_says_so_and_never_too_small) {
  std::mt19937 random(2);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  int exact = 0;
  for (int round = 0; round < 20000; ++round) {
    Progression p = {below(20), 1 + below(6), 1 + below(5), 1};
    const int64_t by = below(25) - 12, times = 1 + below(5);
    std::set<int64_t> expected;
    for (const int64_t x : written_out(p))
      for (int64_t k = 0; k < times; ++k) expected.insert(x + k * by);
    const bool said = p.spread(by, times);
    const std::set<int64_t> got = written_out(p);
    for (const int64_t x : expected) ASSERT_EQ(got.count(x), 1U);
    if (said) {
      ASSERT_EQ(got, expected);
    }
    exact += said;
  }
  EXPECT_GT(exact, 5000);
}

TEST(Progression, large_strides_do_not_overflow) {
  const int64_t gibi = int64_t{1} << 40;
  EXPECT_EQ(common({0, gibi + 1, 1000, 1}, {gibi - 1, gibi, 1000, 1}), std::nullopt);
  EXPECT_EQ(common({5, 3 * gibi, 100, 1}, {5 + 6 * gibi, 9 * gibi, 100, 1}), 5 + 6 * gibi);
}

}  // namespace
}  // namespace hiroba
