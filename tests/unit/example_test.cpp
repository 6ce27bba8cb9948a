// The floor example.
#include "example/example.hpp"

#include <gtest/gtest.h>

TEST(Example, CountsBarriers) {
  hiroba::Example example;
  EXPECT_EQ(example.barriers(), 0);
  example.at_barrier();
  EXPECT_EQ(example.barriers(), 1);
}
