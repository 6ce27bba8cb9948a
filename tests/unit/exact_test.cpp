#include "collective/operators/exact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "collective/operators/combine.hpp"

namespace hiroba {
namespace {

double sum(const std::vector<double>& numbers) {
  ExactSum sum;
  for (const double x : numbers) sum.add(x);
  return sum.value();
}

TEST(ExactSumTest, TheOrderMakesNoDifference) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> numbers(2 + random() % 60);
    for (double& x : numbers)
      x = std::ldexp(static_cast<double>(static_cast<int64_t>(random())), static_cast<int>(random() % 120) - 60);
    const double first = sum(numbers);
    for (int order = 0; order < 10; ++order) {
      std::shuffle(numbers.begin(), numbers.end(), random);
      ASSERT_EQ(first, sum(numbers)) << "round " << round;
    }
  }
}

// Whole numbers of up to 100 bits, added up in 128 bits, and rounded once.
TEST(ExactSumTest, ItIsRoundedOnceToTheNearest) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    __int128 exact = 0;
    std::vector<double> numbers;
    for (int i = 0; i < 8; ++i) {
      const auto mantissa = static_cast<int64_t>(random() >> 11) - (int64_t{1} << 52);
      const int shift = static_cast<int>(random() % 47);
      numbers.push_back(std::ldexp(static_cast<double>(mantissa), shift));
      exact += static_cast<__int128>(mantissa) << shift;
    }
    ASSERT_EQ(static_cast<double>(exact), sum(numbers)) << "round " << round;
  }
}

TEST(ExactSumTest, HalfWayCasesLookFurtherDown) {
  EXPECT_EQ(1 + 0x1p-52, sum({1, 0x1p-53, 0x1p-80}));
  EXPECT_EQ(1, sum({1, 0x1p-53, -0x1p-80}));
  EXPECT_EQ(1, sum({1, 0x1p-53}));  // to even
}

TEST(ExactSumTest, WhatIsNotFiniteStaysSo) {
  constexpr double infinite = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();
  EXPECT_EQ(infinite, sum({1, infinite, -5}));
  EXPECT_TRUE(std::isnan(sum({infinite, -infinite})));
  EXPECT_EQ(infinite, sum({largest, largest}));
  EXPECT_EQ(0, sum({largest, -largest}));
  EXPECT_EQ(0, sum({1e16, 1, -1e16, -1}));
  EXPECT_TRUE(std::signbit(sum({-0.0, -0.0})));
}

TEST(ExactSumTest, SumsOfRanksUseItIfTheyAreToldTo) {
  Combine plain, exact;
  ASSERT_TRUE(Combine::make(Type::float64, Op::add, plain).ok());
  exact = plain;
  exact.make_exact();
  const double a[] = {1e16, 1}, b[] = {1, 2}, c[] = {-1e16, 3};
  const std::vector<const char*> pieces = {reinterpret_cast<const char*>(a), reinterpret_cast<const char*>(b),
                                           reinterpret_cast<const char*>(c)};
  double rounded[2], right[2];
  plain.all(reinterpret_cast<char*>(rounded), pieces, sizeof rounded);
  exact.all(reinterpret_cast<char*>(right), pieces, sizeof right);
  EXPECT_EQ(0, rounded[0]);
  EXPECT_EQ(1, right[0]);
  EXPECT_EQ(6, right[1]);
  Combine largest;
  ASSERT_TRUE(Combine::make(Type::float64, Op::max, largest).ok());
  largest.make_exact();
  EXPECT_FALSE(largest.exact);
}

}  // namespace
}  // namespace hiroba
