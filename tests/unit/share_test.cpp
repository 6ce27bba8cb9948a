#include "loops/share.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "loops/loops.hpp"

namespace hiroba {
namespace {

Job job_of(int nranks) {
  Job job;
  job.nranks = nranks, job.nnodes = nranks;
  job.place_evenly();
  return job;
}

// An access a[factor * v0 + low] (and [v1] of a second dimension) to an array as it is in the program.
Access access_to(Array& array, int flags, int64_t factor, int64_t low) {
  Access out = {flags, "a[i]", {}};
  View& view = out.view;
  view.array = &array, view.exact = true, view.dims = array.distribution.dims();
  int64_t stride = static_cast<int64_t>(array.distribution.element_bytes());
  for (int d = view.dims - 1; d >= 0; stride *= array.distribution.dim(d--)) {
    view.extent[d] = array.distribution.dim(d), view.stride[d] = stride;
    view.low[d] = view.high[d] = d == 0 ? low : 0;
    std::fill_n(view.factor[d], View::most_loops, 0);
    view.factor[d][d] = d == 0 ? factor : 1;
  }
  return out;
}

// How many ranks do the iteration (i, j).
int owners(const Job& job, const std::vector<Access>& accesses, const std::vector<Values>& loops, int shared, int64_t i,
           int64_t j) {
  int found = 0;
  for (int r = 0; r < job.nranks; ++r) {
    const Share share = share_of(job, r, accesses, loops, shared);
    const auto has = [&](size_t k, int64_t value) {
      const Interval part = static_cast<int>(k) < shared ? share[k] : Interval{loops[k].first, loops[k].end};
      return value >= part.begin && value < part.end && (value - part.begin) % loops[k].step == 0;
    };
    found += has(0, i) && (loops.size() == 1 || has(1, j));
  }
  return found;
}

TEST(Share, EveryIterationBelongsToExactlyOneRank) {
  std::mt19937 random(11);
  const auto below = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
  int tried = 0;
  for (int round = 0; round < 400; ++round) {
    const int nranks = 1 + static_cast<int>(below(5));
    const bool two = below(2) == 1;
    const int64_t dim[] = {1 + below(40), 1 + below(9)}, pieces = 1 + below(nranks);
    const int64_t div[] = {pieces, two ? 1 + below(static_cast<int>(nranks / pieces)) : 1};
    Array array;
    const size_t dims = two ? 2 : 1;
    const int count = static_cast<int>(div[0] * div[1]);
    const Status made = Distribution::make({dim, dims}, {div, dims}, 8, 0, count, nranks, array.distribution);
    if (!made.ok()) continue;  // more pieces than elements
    ++tried;
    const int64_t factor = (1 + below(3)) * (below(3) == 0 ? -1 : 1), low = below(5) - 2;
    const std::vector<Access> accesses = {access_to(array, Access::writes, factor, low)};
    std::vector<Values> loops = {{below(4), 3 + below(30), 1 + below(3)}};
    if (two) loops.push_back({0, dim[1], 1});
    const int shared = two ? 1 + static_cast<int>(below(2)) : 1;
    const Job job = job_of(nranks);
    for (int64_t i = loops[0].first; i < loops[0].end; i += loops[0].step)
      for (int64_t j = 0; j < (two ? dim[1] : 1); ++j)
        ASSERT_EQ(1, owners(job, accesses, loops, shared, i, j))
            << "round " << round << ", iteration " << i << ", " << j;
  }
  EXPECT_GT(tried, 300);
}

TEST(Share, IterationsGoToTheHomeOfWhatTheyWrite) {
  const int64_t dim[] = {40}, div[] = {4};
  Array array;
  ASSERT_TRUE(Distribution::make(dim, div, 8, 0, 4, 4, array.distribution).ok());
  const std::vector<Access> accesses = {access_to(array, Access::writes, 1, 0)};
  const std::vector<Values> loops = {{1, 39, 1}};
  const Job job = job_of(4);
  for (int r = 0; r < 4; ++r) {
    const Share share = share_of(job, r, accesses, loops, 1);
    EXPECT_EQ(r == 0 ? 1 : 10 * r, share[0].begin);
    EXPECT_EQ(r == 3 ? 39 : 10 * r + 10, share[0].end);
  }
}

// The parts of the outermost loop that four ranks do; {0, 0}: nothing.
void expect_parts(const std::vector<std::pair<int64_t, int64_t>>& expected, const std::vector<Access>& accesses,
                  const std::vector<Values>& loops) {
  for (int r = 0; r < 4; ++r) {
    const Interval part = share_of(job_of(4), r, accesses, loops, 1)[0];
    const Interval found = part.empty() ? Interval{0, 0} : part;
    EXPECT_EQ(expected[static_cast<size_t>(r)], std::pair(found.begin, found.end)) << "rank " << r;
  }
}

TEST(Share, WhatOwnsDecidesBeforeWhatIsWrittenAndThatBeforeWhatIsRead) {
  const int64_t dim[] = {40}, div[] = {4}, two[] = {2};
  Array all, some;
  ASSERT_TRUE(Distribution::make(dim, div, 8, 0, 4, 4, all.distribution).ok());
  ASSERT_TRUE(Distribution::make(dim, two, 8, 2, 2, 4, some.distribution).ok());
  const std::vector<std::pair<int64_t, int64_t>> by_all = {{0, 10}, {10, 20}, {20, 30}, {30, 40}};
  const std::vector<std::pair<int64_t, int64_t>> by_some = {{0, 0}, {0, 0}, {0, 20}, {20, 40}};
  const std::vector<Values> loops = {{0, 40, 1}};
  const Access writes = access_to(all, Access::writes, 1, 0), reads = access_to(some, Access::reads, 1, 0);
  expect_parts(by_all, {reads, writes}, loops);
  expect_parts(by_some, {reads}, loops);
  expect_parts(by_some, {writes, access_to(some, Access::owns | Access::reads, 1, 0)}, loops);
}

TEST(Share, ADescendingSubscriptIsSharedFromTheOtherEnd) {
  const int64_t dim[] = {40}, div[] = {4};
  Array array;
  ASSERT_TRUE(Distribution::make(dim, div, 8, 0, 4, 4, array.distribution).ok());
  expect_parts({{30, 40}, {20, 30}, {10, 20}, {0, 10}}, {access_to(array, Access::writes, -1, 39)}, {{0, 40, 1}});
}

TEST(Share, APartBeginsAtAValueOfTheLoop) {
  const int64_t dim[] = {40}, div[] = {4};
  Array array;
  ASSERT_TRUE(Distribution::make(dim, div, 8, 0, 4, 4, array.distribution).ok());
  const std::vector<Access> accesses = {access_to(array, Access::writes, 1, 0)};
  expect_parts({{1, 10}, {10, 20}, {22, 30}, {31, 39}}, accesses, {{1, 39, 3}});
  expect_parts({{0, 0}, {0, 0}, {0, 0}, {0, 0}}, accesses, {{7, 7, 1}});
}

TEST(Share, RanksWithTheSamePiecesCutThem) {
  const int64_t dim[] = {40, 40}, div[] = {2, 2};
  Array array;
  ASSERT_TRUE(Distribution::make(dim, div, 8, 0, 4, 4, array.distribution).ok());
  const std::vector<Access> accesses = {access_to(array, Access::writes, 1, 0)};
  const std::vector<Values> loops = {{0, 40, 1}, {0, 40, 1}};
  expect_parts({{0, 10}, {10, 20}, {20, 30}, {30, 40}}, accesses, loops);
  for (int r = 0; r < 4; ++r) {
    const Share both = share_of(job_of(4), r, accesses, loops, 2);
    EXPECT_EQ(r / 2 * 20, both[0].begin);
    EXPECT_EQ(r % 2 * 20, both[1].begin);
    EXPECT_EQ(r / 2 * 20 + 20, both[0].end);
    EXPECT_EQ(r % 2 * 20 + 20, both[1].end);
  }
}

TEST(Share, AnArrayOfBytesIsSharedByItsOutermostDimension) {
  const int64_t dim[] = {40, 5}, rows[] = {4, 1}, both[] = {2, 2};
  for (const bool only_rows : {true, false}) {
    Array array;
    ASSERT_TRUE(Distribution::make(dim, only_rows ? rows : both, 8, 0, 4, 4, array.distribution).ok());
    Access access = access_to(array, Access::writes, 40, 0);  // a row has 40 bytes
    access.view.exact = false, access.view.dims = 1;
    expect_parts(only_rows ? std::vector<std::pair<int64_t, int64_t>>{{2, 10}, {10, 20}, {20, 30}, {30, 38}}
                           : std::vector<std::pair<int64_t, int64_t>>{{2, 11}, {11, 20}, {20, 29}, {29, 38}},
                 {access}, {{2, 38, 1}});
  }
}

TEST(Share, AnEqualPartIsWholeSteps) {
  const std::vector<Access> none = {{Access::writes, "x", {}}};
  expect_parts({{0, 9}, {9, 18}, {18, 25}, {0, 0}}, none, {{0, 25, 3}});
}

TEST(Share, ValuesWithinAnInterval) {
  const auto expect = [](Interval inside, Interval offset, int64_t factor) {
    const Interval found = values_within(inside, offset, factor);
    for (int64_t v = -30; v < 30; ++v) {
      const bool within = factor * v + offset.begin >= inside.begin && factor * v + offset.end - 1 < inside.end;
      EXPECT_EQ(within, v >= found.begin && v < found.end) << v << " times " << factor;
    }
  };
  for (const int64_t factor : {-3, -2, -1, 1, 2, 3})
    for (const int64_t begin : {-7, 0, 5})
      for (const int64_t width : {1, 2, 3}) {
        expect({begin, begin + 9}, {begin - 1, begin - 1 + width}, factor);
        expect({-far, begin}, {2, 2 + width}, factor);
        expect({begin, far}, {-2, -2 + width}, factor);
        expect({-far, far}, {0, width}, factor);
      }
}

TEST(Share, WithoutASharedArrayThePartsAreEqual) {
  const Job job = job_of(3);
  Access none = {Access::writes, "x", {}};
  const std::vector<Access> accesses = {none};
  const std::vector<Values> loops = {{0, 9, 1}};
  for (int r = 0; r < 3; ++r) {
    const Share share = share_of(job, r, accesses, loops, 1);
    EXPECT_EQ(3 * r, share[0].begin);
    EXPECT_EQ(3 * r + 3, share[0].end);
  }
}

}  // namespace
}  // namespace hiroba
