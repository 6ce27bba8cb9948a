// The page cache at barriers: what is requested before one, what is fetched between its halves, what is here; arrays
// that are freed; huge pages; and the log of notices.
#include "cache_rank.hpp"

namespace hiroba {
namespace {

class CacheBarrierTest : public CacheFixture {
 protected:
  // One span of a program that preloads the same pages in each; the drop, and what is requested before the barrier.
  void span(bool halves = false) {
    cache().fetches.start_preload(*array, first, first + 20);
    cache().fetches.finish();
    drop();
    rank->home.take_gets();
    cache().fetches.preload_ahead(halves);
    cache().fetches.enter_between();
  }
  void end_barrier(char written) {
    others_write(first, first + 20, written);
    rank->home.barrier_ended = true;
  }
};

TEST_P(CacheBarrierTest, WhatIsExpectedIsRequestedBeforeTheBarrier) {
  if (!network()) GTEST_SKIP() << "memory is read at once, so too early";
  make();
  rank->home.defers = true;
  span();
  EXPECT_FALSE(cache().fetches.leave_between());
  expect_gets({});
  span();
  expect_gets({pages(first, 20)});
  end_barrier('n');
  EXPECT_FALSE(cache().fetches.leave_between()) << "what was requested before the barrier is as new as the barrier";
  const bool first_to_need_it = cache().fetches.start_preload(*array, first, first + 20);
  EXPECT_TRUE(first_to_need_it);
  EXPECT_FALSE(cache().fetches.start_preload(*array, first, first + 20));
  cache().fetches.finish();
  expect_gets({});
  read(first, first + 20);
  EXPECT_EQ('n', rank->at(first));
  EXPECT_EQ(0u, faults());
  EXPECT_EQ(1, rank->home.deferred);
  drop();
  rank->home.defers = false;
  preload(first + 30, first + 40);
  EXPECT_EQ(1, rank->home.deferred) << "only what is requested before the barrier";
}

TEST_P(CacheBarrierTest, NothingIsRequestedOfHomesThatCannotDeferGets) {
  make();
  span();
  span();
  expect_gets({});
}

TEST_P(CacheBarrierTest, BeforeTheFirstHalfOnlyWhatIsPreloadedAlways) {
  if (!network()) GTEST_SKIP() << "memory is read at once, so too early";
  for (const bool promised : {false, true}) {
    make();
    rank->home.defers = true;
    array->preloaded = promised;
    span(true);
    span(true);
    expect_gets(promised ? Pieces{pages(first, 20)} : Pieces{});
    end_barrier('n');
    cache().fetches.leave_between();
    preload(first, first + 20);
    EXPECT_EQ('n', rank->at(first + 19));
  }
}

TEST_P(CacheBarrierTest, WhatIsFetchedBetweenTheHalvesFencesFirstAndIsToldOf) {
  make();
  preload(first, first + 3);
  rank->at(first) = 'w';
  drop();
  rank->home.fences = 0;
  cache().fetches.enter_between();
  EXPECT_FALSE(cache().fetches.leave_between());
  cache().fetches.enter_between();
  read(first, first + 1);
  EXPECT_EQ(1, rank->home.fences);
  EXPECT_EQ('w', rank->at(first));
  EXPECT_TRUE(cache().fetches.leave_between());
  read(first + 2, first + 3);
  EXPECT_EQ(1, rank->home.fences);
  cache().fetches.enter_between();
  EXPECT_FALSE(cache().fetches.leave_between());
}

TEST_P(CacheBarrierTest, RequestsBeforeTheBarrierWaitForNoFreeSlot) {
  if (!network()) GTEST_SKIP() << "memory is read at once, so too early";
  make();
  rank->home.defers = true;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t p = first; p < first + 24; p += 2) cache().fetches.start_preload(*array, p, p + 1);
    cache().fetches.finish();
    drop();
    rank->home.take_gets();
    cache().fetches.preload_ahead(false);
  }
  EXPECT_EQ(8u, rank->home.take_gets().size());
  end_barrier('n');
  read(first, first + 24);
}

TEST_P(CacheBarrierTest, AnArrayThatWasFreedIsNotExpected) {
  if (!network()) GTEST_SKIP() << "memory is read at once, so too early";
  make();
  rank->home.defers = true;
  preload(first, first + 20);
  drop();
  cache().fetches.preload_ahead(false);
  preload(first, first + 20);
  drop();
  rank->home.take_gets();
  array->freed = true;
  cache().fetches.preload_ahead(false);
  expect_gets({});
}

TEST_P(CacheBarrierTest, ThePagesThatAreHereWithSmallGaps) {
  make();
  Array& other = rank->add(end + 212, {{20, 1}});  // arrays do not share chunks
  const uint64_t start = other.first_page;
  for (const uint64_t p : {first + 1, first + 2, first + 11, first + 30, first + 98, first + 99, first + 150, start})
    read(p, p + 1);
  const std::vector<PageRun> expected = {
      {first + 1, 11}, {first + 30, 1}, {first + 98, 2}, {first + 150, 1}, {start, 1}};
  EXPECT_EQ(expected, cache().copies.valid_runs());
  cache().writeback.invalidate(first + 30, 1);
  EXPECT_EQ(4u, cache().copies.valid_runs().size());
}

TEST_P(CacheBarrierTest, AFreedArrayLeavesTheRestOfTheCacheAlone) {
  make({.limit_pages = 64});
  Array& other = rank->add(end + 212, {{60, 1}});
  const uint64_t start = other.first_page;
  read(first, first + 20);
  read(start, start + 20);
  read(first + 20, first + 40);
  preload(start + 20, start + 22);
  cache().remove(other);
  other.freed = true;
  EXPECT_EQ(40u, cache().copies.resident());
  EXPECT_EQ(0u, other.counters.cached.load());
  for (uint64_t p = start; p < start + 22; ++p) EXPECT_TRUE(is_state(p, PageState::absent));
  read(first + 40, first + 64);
  EXPECT_EQ(0u, array->counters.evicted.load());
  read(first + 64, first + 65);
  EXPECT_TRUE(is_state(first, PageState::absent)) << "what came first goes first";
  EXPECT_TRUE(is_state(first + 63, PageState::valid));
  EXPECT_EQ(8u, array->counters.evicted.load());
}

TEST_P(CacheBarrierTest, WholeHugePages) {
  make({.limit_pages = 65536, .huge = true});
  Array& large = rank->add(first + 1024, {{1536, 1}});
  const uint64_t start = large.first_page, stop = large.end_page;
  for (int round = 0; round < 4; ++round) {
    for (uint64_t p = start; p < stop; ++p) rank->home_at(p, 8) = static_cast<char>(p + static_cast<uint64_t>(round));
    cache().fetches.start_preload(large, start, stop);
    cache().fetches.finish();
    for (uint64_t p = start; p < stop; ++p) ASSERT_EQ(rank->home_at(p, 8), rank->at(p, 8)) << "page " << p - start;
    EXPECT_EQ(0u, large.counters.faults.load());
    for (const uint64_t p : {start + 700, stop - 1}) rank->at(p, 1) = static_cast<char>('a' + round);
    drop();
    EXPECT_EQ('a' + round, rank->home_at(start + 700, 1));
    EXPECT_EQ('a' + round, rank->home_at(stop - 1, 1));
  }
}

TEST_P(CacheBarrierTest, APageThatIsNotedIsInTheNotices) {
  make();
  cache().writeback.note(first + 9);
  EXPECT_EQ(Pages{first + 9}, rank->noted());
}

INSTANTIATE_CACHE_TESTS(CacheBarrierTest);

class NoticesTest : public testing::Test {
 protected:
  void SetUp() override {
    layout.space = 0;
    ASSERT_TRUE(memory.create("notices", layout.extent()).ok());
    log.start(memory.data(), layout, Job());
  }
  using Runs = std::vector<std::pair<uint64_t, uint64_t>>;
  Runs runs() const {
    Runs out;
    for (uint64_t i = 0; i < log.count(); ++i) out.emplace_back(log[i].page(), log[i].pages());
    return out;
  }
  Layout layout;
  SparseFile memory;
  NoticeLog log;
};

TEST_F(NoticesTest, WhatFollowsOrIsKnownIsJoined) {
  log.add(10, 2, 0);
  log.add(12, 3, 0);
  log.add(11, 4, 0);
  EXPECT_EQ((Runs{{10, 5}}), runs());
  log.add(14, 2, 0);
  log.add(9, 1, 0);
  log.add(20, 1, 0);
  log.add(10, 1, 0);
  EXPECT_EQ((Runs{{10, 5}, {14, 2}, {9, 1}, {20, 1}, {10, 1}}), runs());
}

TEST_F(NoticesTest, ARunHasAtMostWhatItsWordHolds) {
  log.add(5, Notice::most - 1, 0);
  log.add(5 + Notice::most - 1, 1, 0);
  log.add(5 + Notice::most, 1, 0);
  EXPECT_EQ((Runs{{5, Notice::most}, {5 + Notice::most, 1}}), runs());
}

TEST_F(NoticesTest, TwoLogsTakeTurns) {
  log.add(1, 1, 0);
  const auto* const published = reinterpret_cast<const Notice*>(memory.data() + layout.notice_log(0, log.parity()));
  log.turn();
  EXPECT_EQ(0u, log.count());
  log.add(7, 1, 0);
  EXPECT_EQ(1u, published->page()) << "others still read it";
  EXPECT_EQ((Runs{{7, 1}}), runs());
  log.clear();
  EXPECT_EQ(0u, log.count());
  log.turn();
  log.add(9, 1, 0);
  EXPECT_EQ(9u, published->page());
}

}  // namespace
}  // namespace hiroba
