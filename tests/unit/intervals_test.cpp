// Releases and acquires of several ranks in one process, over one memory that has the logs of all nodes: which pages an
// acquire finds out of date, and when it gives up and drops every copy.
#include "memory/sync/intervals.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "one_memory.hpp"

namespace hiroba {
namespace {

using Runs = std::vector<std::pair<uint64_t, uint64_t>>;

// What a rank writes, and what it is told to forget.
struct FakePages final : IntervalPages {
  bool release(std::vector<Notice>& out) override {
    for (const auto& [page, pages] : std::exchange(written, {})) out.push_back(Notice::make(page, pages));
    return std::exchange(known, true);
  }
  bool nothing_to_release() const override { return written.empty() && known; }
  void update(std::span<const Notice> runs) override {
    for (const Notice run : runs) updated.emplace_back(run.page(), run.pages());
  }
  void drop() override { ++drops; }
  bool between() const override { return in_between; }

  Runs written, updated;
  bool known = true, in_between = false;
  int drops = 0;
};

// Ranks 0 and 1 on node 0, 2 on node 1, 3 on node 2.
class IntervalsTest : public testing::Test {
 protected:
  static constexpr int ranks = 4, nodes = 3;
  using Vector = std::vector<uint64_t>;

  void SetUp() override {
    layout_.space = uint64_t{4} << 20, layout_.nranks = ranks, layout_.nnodes = nodes;
    memory_ = std::make_unique<OneMemory>(layout_.extent());
    for (int r = 0; r < ranks; ++r) {
      Intervals::Config config;
      config.job.nranks = ranks, config.job.nnodes = nodes;
      config.job.place_evenly();
      config.job.rank = r, config.job.node = config.job.node_of(r);
      config.layout = layout_, config.base = memory_->memory(), config.transport = memory_.get();
      auto pages = std::make_unique<FakePages>();
      pages_[r] = pages.get();
      config.pages = std::move(pages);
      rank_[r].start(std::move(config));
    }
    ASSERT_EQ(0, node_of(1));
    ASSERT_EQ(1, node_of(2));
    ASSERT_EQ(2, node_of(3));
  }

  int node_of(int rank) const {
    Job job;
    job.nranks = ranks, job.nnodes = nodes;
    job.place_evenly();
    return job.node_of(rank);
  }
  Vector release(int rank, Runs written = {}) {
    pages_[rank]->written = std::move(written);
    Vector vector(nodes);
    rank_[rank].release(vector);
    return vector;
  }
  // What it finds out of date.
  Runs acquire(int rank, const Vector& vector) {
    rank_[rank].acquire(vector);
    return std::exchange(pages_[rank]->updated, {});
  }
  int drops(int rank) { return std::exchange(pages_[rank]->drops, 0); }
  void barrier() {
    Vector covered(ranks);
    for (int r = 0; r < ranks; ++r) covered[static_cast<size_t>(r)] = rank_[r].at_barrier();
    for (Intervals& rank : rank_) rank.after_barrier(covered);
  }

  Layout layout_;
  std::unique_ptr<OneMemory> memory_;
  FakePages* pages_[ranks] = {};
  Intervals rank_[ranks];
};

TEST_F(IntervalsTest, AnEmptyIntervalChangesNothing) {
  Vector first(nodes), second(nodes);
  const uint64_t version = rank_[0].release(first);
  EXPECT_EQ(version, rank_[0].release(second));
  EXPECT_EQ(Vector(nodes), first);
  EXPECT_EQ(Runs{}, acquire(2, first));
  EXPECT_EQ(0, drops(2));
  EXPECT_EQ(0U, rank_[2].counts().entries);
}

TEST_F(IntervalsTest, WhatWasWrittenIsFoundOnce) {
  const Vector vector = release(0, {{7, 1}});
  EXPECT_EQ((Runs{{7, 1}}), acquire(2, vector));
  EXPECT_EQ(Runs{}, acquire(2, vector));
  EXPECT_EQ(Runs{}, acquire(0, vector));  // its own
  EXPECT_EQ((Runs{{7, 1}}), acquire(1, vector));
  EXPECT_EQ(1U, rank_[2].counts().entries);
}

TEST_F(IntervalsTest, RunsOfSeveralReleasesAreMerged) {
  release(0, {{20, 2}, {3, 1}});
  EXPECT_EQ((Runs{{3, 6}, {20, 2}}), acquire(3, release(0, {{4, 2}, {5, 4}})));
}

TEST_F(IntervalsTest, AVectorHasTheGreaterOfWhatWasSeenAndWritten) {
  const Vector a = release(0, {{5, 1}}), b = release(3, {{9, 1}});
  acquire(2, a), acquire(2, b);
  const Vector both = release(2);
  EXPECT_EQ((Vector{a[0], 0, b[2]}), both);
  acquire(2, Vector(nodes));  // older: nothing is lost
  EXPECT_EQ(both, release(2));
}

TEST_F(IntervalsTest, OrderGoesByWayOfAThirdRank) {
  acquire(2, release(0, {{5, 1}}));
  EXPECT_EQ((Runs{{5, 1}, {9, 1}}), acquire(3, release(2, {{9, 1}})));
}

TEST_F(IntervalsTest, WhatTheReleaserHasNotSeenIsNotHandedOn) {
  release(0, {{5, 1}});
  EXPECT_EQ((Runs{{9, 1}}), acquire(3, release(2, {{9, 1}})));
  EXPECT_EQ((Runs{{5, 1}}), acquire(3, release(0)));
}

TEST_F(IntervalsTest, RanksOfANodeShareItsLog) {
  const Vector first = release(1, {{8, 1}});
  const Vector second = release(0, {{6, 1}});
  EXPECT_GT(second[0], first[0]);
  EXPECT_EQ((Runs{{8, 1}}), acquire(0, second));  // without its own
  EXPECT_EQ((Runs{{6, 1}, {8, 1}}), acquire(3, second));
}

TEST_F(IntervalsTest, UnknownWritesDropEverything) {
  pages_[0]->known = false;
  const Vector vector = release(0, {{7, 1}});
  EXPECT_EQ(Runs{}, acquire(2, vector));
  EXPECT_EQ(1, drops(2));
  acquire(2, vector);
  EXPECT_EQ(0, drops(2));
  EXPECT_EQ((Runs{{8, 1}}), acquire(2, release(0, {{8, 1}})));  // the next one is known again
  EXPECT_EQ(1U, rank_[2].counts().drops);
}

TEST_F(IntervalsTest, ALogHoldsItsLatestEntriesExactly) {
  Vector vector;
  for (uint64_t i = 0; i < Layout::interval_slots; ++i) vector = release(0, {{2 * i, 1}});
  EXPECT_EQ(Layout::interval_slots, acquire(2, vector).size());
  EXPECT_EQ(0, drops(2));
  vector = release(0, {{1, 1}});
  EXPECT_EQ(Runs{}, acquire(3, vector));  // the first entry is gone
  EXPECT_EQ(1, drops(3));
  EXPECT_EQ((Runs{{1, 1}}), acquire(2, vector));
  EXPECT_EQ((Runs{{4, 1}}), acquire(3, release(0, {{4, 1}})));
}

TEST_F(IntervalsTest, ReleasesOfVeryManyRunsAreAboutAllPages) {
  Runs many;
  for (uint64_t i = 0; i <= Layout::interval_slots / 4; ++i) many.emplace_back(2 * i, 1);
  EXPECT_EQ(Runs{}, acquire(2, release(0, many)));
  EXPECT_EQ(1, drops(2));
  many.pop_back();
  EXPECT_EQ(many.size(), acquire(2, release(0, many)).size());
}

TEST_F(IntervalsTest, BetweenTheHalvesOfASyncDropAnAcquireDropsEverything) {
  pages_[2]->in_between = true;
  EXPECT_EQ(Runs{}, acquire(2, release(0, {{7, 1}})));
  EXPECT_EQ(1, drops(2));
}

TEST_F(IntervalsTest, WhatWasLostBeforeAReleaseIsAboutAllPages) {
  rank_[0].lose_track();
  acquire(2, release(0));
  EXPECT_EQ(1, drops(2));
  rank_[0].lose_track();
  rank_[0].all_dropped();  // nobody has a copy any more
  acquire(2, release(0));
  EXPECT_EQ(0, drops(2));
}

TEST_F(IntervalsTest, ABarrierCoversWhatItsNoticesHave) {
  const Vector before = release(0, {{5, 1}});
  barrier();
  EXPECT_EQ(Runs{}, acquire(3, before));
  const Vector after = release(0, {{6, 1}});
  EXPECT_EQ((Runs{{6, 1}}), acquire(3, after));
  rank_[0].lose_track();  // its notices lack something from here on
  const Vector later = release(0, {{7, 1}});
  barrier();
  acquire(3, later);
  EXPECT_EQ(1, drops(3));
}

TEST_F(IntervalsTest, VectorsInMemoryGrowOnly) {
  const uint64_t at = layout_.flag_vector(3);
  const auto there = [&] {
    Vector out(nodes);
    std::memcpy(out.data(), memory_->memory() + at, sizeof(uint64_t) * nodes);
    return out;
  };
  EXPECT_TRUE(rank_[0].hand_over(Vector{3, 0, 5}, 3, at));
  EXPECT_TRUE(rank_[1].hand_over(Vector{1, 2, 9}, 3, at));
  EXPECT_EQ((Vector{3, 2, 9}), there());
  EXPECT_FALSE(rank_[0].hand_over(Vector{3, 1, 4}, 3, at));
  EXPECT_EQ((Vector{3, 2, 9}), there());
}

TEST_F(IntervalsTest, WhatAllHaveSeenByABarrierIsNotWritten) {
  const Vector vector = release(0, {{5, 1}});
  barrier();
  EXPECT_FALSE(rank_[0].hand_over(vector, 3, layout_.flag_vector(3)));
}

TEST_F(IntervalsTest, AFlagOrdersForThoseThatHaveReadOne) {
  release(0, {{5, 1}});
  rank_[0].before_flag(3);
  rank_[2].sync();
  EXPECT_EQ(Runs{}, pages_[2]->updated);
  rank_[2].after_flag(3);
  rank_[2].sync();
  EXPECT_EQ((Runs{{5, 1}}), std::exchange(pages_[2]->updated, {}));
  rank_[2].before_flag(1);  // it hands on what it has seen
  rank_[3].after_flag(1);
  rank_[3].sync();
  EXPECT_EQ((Runs{{5, 1}}), pages_[3]->updated);
}

TEST_F(IntervalsTest, MessagesAndLocksOfOtherFloorsHandOnWhatWasWritten) {
  pages_[0]->written = {{5, 1}};
  rank_[0].release_to(2);
  rank_[3].acquire_from(3);
  EXPECT_EQ(Runs{}, pages_[3]->updated);
  rank_[3].acquire_from(2);
  EXPECT_EQ((Runs{{5, 1}}), pages_[3]->updated);
}

}  // namespace
}  // namespace hiroba
