// Homes that move, and the count of intervals in which a rank alone wrote pages, against tables with an entry per page.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "memory/homes/home_runs.hpp"
#include "memory/homes/write_tally.hpp"
#include "memory/page_runs.hpp"

namespace hiroba {
namespace {

constexpr uint64_t first = 1000, pages = 64;

struct HomeRunsTest : testing::Test {
  std::mt19937 random{1};
  uint64_t below(uint64_t n) { return random() % n; }

  // Disjoint, in order, not beside each other.
  std::vector<PageRun> some_runs() {
    std::vector<PageRun> runs;
    for (uint64_t at = first + below(8); at < first + pages; at += 1 + below(9)) {
      const uint64_t length = std::min(1 + below(10), first + pages - at);
      runs.push_back({at, length});
      at += length;
    }
    return runs;
  }
};

struct Home {
  int rank;
  int moves;
  bool operator==(const Home&) const = default;
};

std::map<uint64_t, Home> by_page(const std::vector<HomeRun>& runs) {
  std::map<uint64_t, Home> out;
  uint64_t next = first;
  for (const HomeRun& run : runs) {
    EXPECT_EQ(next, run.first);
    EXPECT_GT(run.pages, 0u);
    for (uint64_t p = run.first; p < run.first + run.pages; ++p) out[p] = {run.rank, run.moves};
    next = run.first + run.pages;
  }
  EXPECT_EQ(first + pages, next);
  return out;
}

TEST_F(HomeRunsTest, MovesAreThoseOfEachPage) {
  for (int round = 0; round < 2000; ++round) {
    std::vector<HomeRun> homes = {{first, 20, 0}, {first + 20, 30, 1}, {first + 50, 14, 2}};
    for (int step = 0; step < 4; ++step) {
      std::map<uint64_t, Home> expected = by_page(homes);
      std::vector<HomeChange> moves;
      for (const PageRun& run : some_runs()) moves.push_back({run.first, run.pages, -1, static_cast<int>(below(3))});
      for (const HomeChange& move : moves)
        for (uint64_t p = move.first; p < move.first + move.pages; ++p)
          if (Home& home = expected[p]; home.rank != move.to) home = {move.to, home.moves + 1};
      const std::vector<HomeRun> next = with_moves(homes, moves);
      ASSERT_EQ(expected, by_page(next)) << "round " << round;
      for (size_t i = 1; i < next.size(); ++i)
        ASSERT_FALSE(next[i - 1].rank == next[i].rank && next[i - 1].moves == next[i].moves) << "not one run";
      std::map<uint64_t, Home> replayed = by_page(homes);
      for (const HomeChange& change : home_changes(homes, next))
        for (uint64_t p = change.first; p < change.first + change.pages; ++p) {
          ASSERT_EQ(change.from, replayed[p].rank);
          ASSERT_NE(change.from, change.to);
          replayed[p].rank = change.to;
        }
      for (const auto& [page, home] : replayed) ASSERT_EQ(expected[page].rank, home.rank);
      homes = next;
    }
  }
}

TEST_F(HomeRunsTest, RunsThatStayAreNotNamed) {
  const std::vector<HomeRun> before = {{0, 10, 0}, {10, 10, 1}, {20, 5, 0}},
                             after = {{0, 10, 0}, {10, 12, 1}, {22, 3, 0}};
  EXPECT_EQ((std::vector<HomeRun>{{10, 10, 1}, {20, 5, 0}}), runs_only_in(before, after));
  EXPECT_EQ((std::vector<HomeRun>{{10, 12, 1}, {22, 3, 0}}), runs_only_in(after, before));
  EXPECT_EQ((std::vector<HomeChange>{{20, 2, 0, 1}}), home_changes(before, after));
}

TEST_F(HomeRunsTest, ATallyIsThatOfEachPage) {
  for (int round = 0; round < 500; ++round) {
    WriteTally tally;
    std::map<uint64_t, uint32_t> expected;
    for (int step = 0; step < 12; ++step) {
      const std::vector<PageRun> others = below(2) == 0 ? std::vector<PageRun>() : some_runs();
      const std::vector<PageRun> alone = without(some_runs(), others);
      for (const PageRun& run : others)
        for (uint64_t p = run.first; p < run.first + run.pages; ++p) expected.erase(p);
      for (const PageRun& run : alone)
        for (uint64_t p = run.first; p < run.first + run.pages; ++p) ++expected[p];
      tally.add(alone, others);
      if (below(4) == 0) {
        const std::vector<PageRun> gone = some_runs();
        for (const PageRun& run : gone)
          for (uint64_t p = run.first; p < run.first + run.pages; ++p) expected.erase(p);
        tally.forget(gone);
      }
      std::map<uint64_t, uint32_t> found;
      for (const WriteTally::Run& run : tally.runs())
        for (uint64_t p = run.first; p < run.first + run.pages; ++p) {
          ASSERT_EQ(0u, found.count(p)) << "twice";
          found[p] = run.intervals;
        }
      ASSERT_EQ(expected, found) << "round " << round << " step " << step;
    }
  }
}

TEST_F(HomeRunsTest, ATallyIsBounded) {
  WriteTally tally;
  std::vector<PageRun> often = {{0, 1}}, many;
  for (uint64_t p = 10; many.size() < WriteTally::most_runs; p += 2) many.push_back({p, 1});
  tally.add(often, {});
  tally.add(often, {});
  tally.add(many, {});
  EXPECT_EQ((std::vector<WriteTally::Run>{{0, 1, 2}}),
            std::vector<WriteTally::Run>(tally.runs().begin(), tally.runs().end()));
}

TEST_F(HomeRunsTest, RunsThatTouchAreMerged) {
  std::vector<PageRun> runs = {{7, 2}, {1, 3}, {4, 1}, {8, 4}, {20, 1}, {20, 1}};
  merge_runs(runs);
  EXPECT_EQ((std::vector<PageRun>{{1, 4}, {7, 5}, {20, 1}}), runs);
}

}  // namespace
}  // namespace hiroba
