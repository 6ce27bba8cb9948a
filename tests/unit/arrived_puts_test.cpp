#include "transport/order/arrived_puts.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace hiroba {
namespace {

TEST(ArrivedPuts, InOrder) {
  ArrivedPuts puts;
  EXPECT_EQ(0u, puts.all_up_to());
  for (uint64_t n = 1; n <= 5; ++n) {
    puts.add(n);
    EXPECT_EQ(n, puts.all_up_to());
  }
}

// The mistake that counting made: a small put of later on stood for a large one that was still on its way.
TEST(ArrivedPuts, OneThatOvertakesDoesNotStandForAnother) {
  ArrivedPuts puts;
  puts.add(2);
  EXPECT_EQ(0u, puts.all_up_to());
  puts.add(3);
  EXPECT_EQ(0u, puts.all_up_to());
  puts.add(1);
  EXPECT_EQ(3u, puts.all_up_to());
}

TEST(ArrivedPuts, AnyOrder) {
  constexpr uint64_t count = 200;
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint64_t> order(count);
    std::iota(order.begin(), order.end(), uint64_t{1});
    std::shuffle(order.begin(), order.end(), random);
    ArrivedPuts puts;
    std::vector<bool> here(count + 2, false);
    for (const uint64_t number : order) {
      puts.add(number);
      here[number] = true;
      uint64_t all = 0;
      while (here[all + 1]) ++all;
      ASSERT_EQ(all, puts.all_up_to()) << "round " << round << ", after " << number;
    }
  }
}

}  // namespace
}  // namespace hiroba
