#include "loops/integers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace hiroba {
namespace {

using Row = std::vector<int64_t>;

struct System {
  std::vector<Row> equal, least;
};

int64_t value(const Row& row, const std::vector<int64_t>& at) {
  int64_t out = row[0];
  for (size_t k = 0; k < at.size(); ++k) out += row[k + 1] * at[k];
  return out;
}

bool holds(const System& system, const std::vector<int64_t>& at) {
  for (const Row& row : system.equal)
    if (value(row, at) != 0) return false;
  for (const Row& row : system.least)
    if (value(row, at) < 0) return false;
  return true;
}

constexpr int64_t most = 5;

// Tries all points from 0 to `most`.
bool any_holds(const System& system, std::vector<int64_t>& at, size_t next) {
  if (next == at.size()) return holds(system, at);
  for (at[next] = 0; at[next] <= most; ++at[next])
    if (any_holds(system, at, next + 1)) return true;
  return false;
}

Integers::Answer solve(const System& system, std::vector<int64_t>& at) {
  Integers integers(static_cast<int>(at.size()));
  for (const Row& row : system.equal) integers.equal(row.data());
  for (const Row& row : system.least) integers.at_least(row.data());
  const Integers::Answer answer = integers.solve();
  for (size_t k = 0; k < at.size(); ++k) at[k] = integers.value(static_cast<int>(k));
  return answer;
}

TEST(IntegersTest, ItFindsWhatTryingAllPointsFinds) {
  std::mt19937 random(1);
  const std::array<int64_t, 9> factors = {0, 0, 1, -1, 2, -2, 3, -5, 7};
  for (int round = 0; round < 3000; ++round) {
    const size_t variables = 1 + random() % 4;
    System system;
    const auto row = [&] {
      Row out(variables + 1);
      for (int64_t& each : out) each = factors[random() % factors.size()];
      out[0] = static_cast<int64_t>(random() % 13) - 6;
      return out;
    };
    for (size_t k = 0; k < variables; ++k) {
      Row low(variables + 1), high(variables + 1);
      low[k + 1] = 1, high[k + 1] = -1, high[0] = most;
      system.least.insert(system.least.end(), {low, high});
    }
    for (size_t count = random() % 3; count > 0; --count) system.equal.push_back(row());
    for (size_t count = random() % 3; count > 0; --count) system.least.push_back(row());
    std::vector<int64_t> at(variables);
    const bool expected = any_holds(system, at, 0);
    const Integers::Answer answer = solve(system, at);
    ASSERT_EQ(answer, expected ? Integers::Answer::found : Integers::Answer::none) << "round " << round;
    ASSERT_TRUE(!expected || holds(system, at)) << "round " << round;
  }
}

// x = 1,000,000 y and x = 999,999 z, for large numbers, of which each point cannot be tried.
TEST(IntegersTest, LargeFactorsDoNotTakeLong) {
  const int64_t n = 1'000'000;
  System system = {{{0, 1, -n, 0}, {0, 1, 0, -(n - 1)}}, {{-1, 1, 0, 0}, {n * (n - 1) - 1, -1, 0, 0}}};
  std::vector<int64_t> at(3);
  EXPECT_EQ(solve(system, at), Integers::Answer::none);
  system.least[1][0] = n * (n - 1);
  ASSERT_EQ(solve(system, at), Integers::Answer::found);
  EXPECT_EQ(at, (std::vector<int64_t>{n * (n - 1), n - 1, n}));
}

TEST(IntegersTest, TooManyRowsAreUndecided) {
  System system;
  for (int64_t k = 0; k <= Integers::most_rows; ++k) system.least.push_back({k, 1, k});
  std::vector<int64_t> at(2);
  EXPECT_EQ(solve(system, at), Integers::Answer::undecided);
}

}  // namespace
}  // namespace hiroba
