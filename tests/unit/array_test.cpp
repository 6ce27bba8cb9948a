#include "memory/array.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "memory/placement.hpp"

namespace hiroba {
namespace {

using Bytes = std::vector<std::pair<int64_t, int64_t>>;

alignas(page_bytes) char memory[8 * page_bytes];

// Elements of 8 bytes that begin `gap` bytes after the beginning of page 10, dealt to `ranks`.
void make(Array& array, int64_t elements, int ranks, uint64_t gap) {
  const std::vector<int64_t> dim = {elements}, div = {ranks};
  ASSERT_TRUE(Distribution::make(dim, div, 8, 0, ranks, ranks, array.distribution).ok());
  const uint64_t pages = (gap + array.distribution.bytes() + page_bytes - 1) / page_bytes;
  array.homes = home_runs(array.distribution, pages, gap);
  for (HomeRun& run : array.homes) run.first += 10;
  array.first_page = 10, array.end_page = 10 + pages, array.data = memory + gap;
}

Bytes bytes_of(const Array& array, int rank) {
  Bytes out;
  array.for_each_bytes_of([rank](int r) { return r == rank; },
                          [&](int64_t begin, int64_t end) { out.emplace_back(begin, end); });
  return out;
}

TEST(Array, PagesLiveWithTheOwnerOfTheirFirstByte) {
  Array array;
  make(array, 1536, 2, 0);  // 768 elements each, one page and a half
  EXPECT_EQ((Bytes{{0, 8192}}), bytes_of(array, 0));
  EXPECT_EQ((Bytes{{8192, 12288}}), bytes_of(array, 1));
}

TEST(Array, TheSpaceBeforeTheFirstElementIsNoOnes) {
  Array array;
  make(array, 600, 30, 192);  // 20 elements each; the second page begins with element 488
  EXPECT_EQ((Bytes{{-192, 3904}}), bytes_of(array, 0));
  EXPECT_EQ((Bytes{{3904, 8000}}), bytes_of(array, 24));
}

TEST(Array, BytesAreCountedFromTheFirstElement) {
  Array array;
  make(array, 900, 2, 192);
  EXPECT_EQ(-192, array.byte_of(10));
  EXPECT_EQ(4096 - 192, array.byte_of(11));
  EXPECT_EQ((Bytes{{-192, 3904}}), bytes_of(array, 0));
  EXPECT_EQ((Bytes{{3904, 8000}}), bytes_of(array, 1));
}

TEST(PageSet, IsLookedUpInAnArray) {
  Array array;
  make(array, 1536, 1, 0);
  Bytes out;
  const PageSet pages({{3, 2}, {8, 3}, {12, 5}});  // before, across the beginning, across the end
  pages.for_each_bytes_in(array, [&](int64_t begin, int64_t end) { out.emplace_back(begin, end); });
  EXPECT_EQ((Bytes{{0, 4096}, {8192, 12288}}), out);
}

TEST(GuardedParts, APartEndsWhereItsGuardBegins) {
  const GuardedParts open = GuardedParts::of(5000, false), closed = GuardedParts::of(5000, true);
  EXPECT_EQ(8192U, open.stride);
  EXPECT_EQ(0U, open.gap + open.guard);
  EXPECT_EQ(8192U, closed.guard);
  EXPECT_EQ(closed.stride, closed.gap + closed.bytes + closed.guard);
  EXPECT_EQ(0U, (closed.gap + closed.bytes) % page_bytes);
  EXPECT_EQ(uint64_t{256} << 20, GuardedParts::of(uint64_t{1} << 30, true).guard);
  EXPECT_EQ(page_bytes, GuardedParts::of(0, true).guard);
}

// Huge pages have 512 small ones.
TEST(Placement, AnArrayBeginsWhereItsPartsHaveMostHugePages) {
  const std::vector<HomeRun> large = {{0, 51200, 0}, {51200, 51200, 1}};
  EXPECT_EQ(3U, choose_start(large, 3)) << "no other start has a tenth more";
  const std::vector<HomeRun> one_each = {{0, 100, 0}, {100, 512, 1}, {612, 100, 0}};
  EXPECT_EQ(412U, choose_start(one_each, 7)) << "the part of rank 1 is a whole huge page from there";
  EXPECT_EQ(9U, choose_start({{0, 100, 0}, {100, 100, 1}}, 9)) << "there is none anywhere";
}

}  // namespace
}  // namespace hiroba
