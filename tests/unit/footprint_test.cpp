// Tests the sections that iterations use, and the division of iterations by speed.
#include "loops/footprint.hpp"

#include <gtest/gtest.h>

namespace hiroba {
namespace {

constexpr int64_t rows = 20, columns = 10, size = 8;
char* const memory = reinterpret_cast<char*>(uintptr_t{1} << 30);

// [first + by * v0][low .. high + v1]
PlainAccess rows_of(int flags, int64_t first, int64_t low, int64_t high, int64_t by = 1) {
  PlainAccess out = {flags, "a", memory, 2, size};
  out.stride = {columns * size, size};
  out.low = {first, low}, out.high = {first, high};
  out.factor[0][0] = by, out.factor[1][1] = 1;
  return out;
}
// The same, with the outermost loop over columns.
PlainAccess columns_of(int flags, int64_t first, int64_t low) {
  PlainAccess out = rows_of(flags, first, low, low);
  out.factor = {};
  out.factor[0][1] = 1, out.factor[1][0] = 1;
  return out;
}

std::string said(std::vector<PlainAccess> accesses, std::vector<Values> loops) {
  return check_separate(accesses, loops).message();
}

TEST(Footprint, RowsAreContiguous) {
  const std::vector<Values> loops = {{2, 5, 1}, {1, columns - 1, 1}};
  const std::vector<PlainAccess> accesses = {rows_of(Access::writes, 0, 0, 0), rows_of(Access::reads, -1, -1, 1)};
  ASSERT_EQ(said(accesses, loops), "");
  const Footprint f = footprint_of(accesses, loops);
  ASSERT_EQ(f.whole.size(), 1u);
  ASSERT_EQ(f.used.size(), 1u);
  ASSERT_EQ(f.written.size(), 1u);
  EXPECT_EQ(f.in, (std::vector<size_t>{0, 0}));
  EXPECT_EQ(f.used[0], Footprint::Box(memory + columns * size, (3 * columns + 9) * size));
  EXPECT_EQ(f.written[0], Footprint::Box(memory + (2 * columns + 1) * size, (2 * columns + 8) * size));
}

TEST(Footprint, ColumnsAreBlocksOfEachRow) {
  const std::vector<Values> loops = {{4, 6, 1}, {0, rows, 1}};
  const std::vector<PlainAccess> accesses = {columns_of(Access::writes, 0, 0), columns_of(Access::reads, 0, -1)};
  ASSERT_EQ(said(accesses, loops), "");
  const Footprint f = footprint_of(accesses, loops);
  Footprint::Box written(memory + 4 * size, 2 * size), read(memory + 3 * size, 2 * size);
  written.add(rows, columns * size), read.add(rows, columns * size);
  EXPECT_EQ(f.written, (std::vector<Footprint::Box>{written}));
  EXPECT_EQ(f.used, (std::vector<Footprint::Box>{written, read}));
  ASSERT_EQ(f.whole.size(), 1u);
  EXPECT_EQ(f.whole[0], Footprint::Box(memory + 3 * size, ((rows - 1) * columns + 3) * size));
}

TEST(Footprint, ArraysApartAreApart) {
  PlainAccess other = rows_of(Access::reads, 0, 0, 0);
  other.base += rows * columns * size;
  const std::vector<Values> loops = {{0, rows, 1}, {0, columns, 1}};
  const std::vector<PlainAccess> accesses = {other, rows_of(Access::writes, 0, 0, 0)};
  EXPECT_EQ(footprint_of(accesses, loops).whole.size(), 2u);
}

TEST(Footprint, IterationsWriteRowsOfTheirOwn) {
  const std::vector<Values> loops = {{0, 6, 1}, {0, columns, 1}};
  const int writes = Access::writes;
  PlainAccess two = rows_of(writes, 0, 0, 0);
  two.high[0] = 1;  // two rows
  EXPECT_NE(said({two}, loops), "");
  two.factor[0][0] = 2;
  EXPECT_EQ(said({two}, loops), "");
  EXPECT_EQ(said({rows_of(writes, 0, 0, 0, 2), rows_of(writes, 1, 0, 0, 2)}, loops), "");
  EXPECT_NE(said({rows_of(writes, 0, 0, 0, 2), rows_of(writes, 2, 0, 0, 2)}, loops), "");
  EXPECT_NE(said({rows_of(writes, 0, 0, 0), rows_of(writes, 9, 0, 0, -1)}, loops), "");
  EXPECT_EQ(said({rows_of(writes, 0, 0, 0), rows_of(Access::reads, 9, 0, 0, -1)}, loops), "");
  EXPECT_NE(said({rows_of(writes, 3, 0, 0, 0)}, loops), "");
}

TEST(SpeedShares, EachHasSomeAndAllHaveAll) {
  for (size_t workers = 1; workers < 5; ++workers)
    for (int64_t iterations = 0; iterations < 9; ++iterations) {
      const std::vector<int64_t> bounds = SpeedShares(workers).bounds(iterations);
      ASSERT_EQ(bounds.size(), workers + 1);
      EXPECT_EQ(bounds.front(), 0);
      EXPECT_EQ(bounds.back(), iterations);
      for (size_t k = 0; k < workers; ++k)
        EXPECT_GE(bounds[k + 1] - bounds[k], static_cast<int64_t>(k) < iterations ? 1 : 0)
            << workers << " " << iterations << " " << k;
    }
}

TEST(SpeedShares, FollowTheSpeedWhereItIsWorthIt) {
  SpeedShares shares(2);
  const std::vector<int64_t> half = {500, 500};
  shares.measured(half, std::vector<double>{1, 1.05});
  EXPECT_EQ(shares.bounds(1000), (std::vector<int64_t>{0, 500, 1000}));
  shares = SpeedShares(2);
  shares.measured(half, std::vector<double>{1, 3});
  EXPECT_EQ(shares.bounds(1000), (std::vector<int64_t>{0, 750, 1000}));
  shares.measured(std::vector<int64_t>{750, 0}, std::vector<double>{1, 3});  // nothing is known of the second
  EXPECT_EQ(shares.bounds(1000), (std::vector<int64_t>{0, 750, 1000}));
}

}  // namespace
}  // namespace hiroba
