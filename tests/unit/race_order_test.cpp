#include "memory/check/race_order.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hiroba {
namespace {

// Logs of some ranks, without pages.
class RaceOrderTest : public testing::Test {
 protected:
  void SetUp() override {
    layout_.nranks = ranks, layout_.space = uint64_t{4} << 20;
    bytes_ = AccessLog::bytes(layout_);
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    log_.start(static_cast<char*>(memory_), layout_);
  }
  void TearDown() override { munmap(memory_, bytes_); }

  void note(int rank, SyncEvent::Kind kind, uint32_t lock = 0, uint64_t ticket = 0) {
    RankLog& log = log_.of(rank);
    log.event[log.events++] = {kind, lock, ticket};
  }
  static bool ordered(RaceOrder& order, int a, uint32_t segment_a, int b, uint32_t segment_b) {
    return order.before(a, segment_a, b, segment_b) || order.before(b, segment_b, a, segment_a);
  }
  bool ordered(int a, uint32_t segment_a, int b, uint32_t segment_b) {
    RaceOrder order(log_, ranks);
    return ordered(order, a, segment_a, b, segment_b);
  }
  // Follows all events again and again, until nothing new comes after the segment.
  bool leads_to(int from, uint32_t segment, int to, uint32_t segment_to) {
    std::vector<uint64_t> first(ranks, UINT64_MAX);
    first[static_cast<size_t>(from)] = segment;
    for (std::vector<uint64_t> before; before != first;) {
      before = first;
      for (int r = 0; r < ranks; ++r)
        for (uint64_t i = first[static_cast<size_t>(r)]; i < log_.of(r).events; ++i)
          for (int other = 0; other < ranks; ++other)
            for (uint64_t j = 0; other != r && j < log_.of(other).events; ++j) {
              const SyncEvent &one = log_.of(r).event[i], &two = log_.of(other).event[j];
              const bool turn =
                  one.kind == release && two.kind == acquire && one.lock == two.lock && two.ticket > one.ticket;
              uint64_t& reached = first[static_cast<size_t>(other)];
              if (turn || (one.kind == any && two.kind == any)) reached = std::min(reached, j + 1);
            }
    }
    return first[static_cast<size_t>(to)] <= segment_to;
  }

  static constexpr int ranks = 3;
  static constexpr auto acquire = SyncEvent::acquire, release = SyncEvent::release, any = SyncEvent::any;
  AccessLog log_;
  Layout layout_;
  uint64_t bytes_ = 0;
  void* memory_ = nullptr;
};

TEST_F(RaceOrderTest, NothingOrdersWithoutEvents) { EXPECT_FALSE(ordered(0, 0, 1, 0)); }

TEST_F(RaceOrderTest, ALockOrdersItsTurns) {
  note(0, acquire, 5, 0), note(0, release, 5, 0);
  note(1, acquire, 5, 1), note(1, release, 5, 1);
  EXPECT_TRUE(ordered(0, 1, 1, 1));   // within the lock
  EXPECT_TRUE(ordered(0, 0, 1, 2));   // before it, and after it
  EXPECT_FALSE(ordered(0, 2, 1, 1));  // after the first turn, within the second
  EXPECT_FALSE(ordered(0, 1, 1, 0));  // within the first, before the second
  EXPECT_TRUE(ordered(1, 1, 0, 1));   // whichever is named first
}

TEST_F(RaceOrderTest, OtherLocksOrderNothing) {
  note(0, acquire, 5, 0), note(0, release, 5, 0);
  note(1, acquire, 6, 1), note(1, release, 6, 1);
  EXPECT_FALSE(ordered(0, 1, 1, 1));
}

TEST_F(RaceOrderTest, OrderGoesByWayOfAThirdRank) {
  note(0, acquire, 1, 0), note(0, release, 1, 0);
  note(2, acquire, 1, 1), note(2, release, 1, 1), note(2, acquire, 2, 7), note(2, release, 2, 7);
  note(1, acquire, 2, 8), note(1, release, 2, 8);
  EXPECT_TRUE(ordered(0, 0, 1, 1));
  EXPECT_FALSE(ordered(0, 0, 1, 0));
}

TEST_F(RaceOrderTest, TransactionsOrderByTheirPositionsWhateverThreadsOfARankDo) {
  constexpr uint32_t transactions = SyncEvent::transactions;
  note(0, acquire, transactions, 4), note(0, release, transactions, 4);
  note(1, acquire, transactions, 3), note(1, acquire, transactions, 9), note(1, acquire, transactions, 5);
  note(1, release, transactions, 5);
  EXPECT_TRUE(ordered(0, 0, 1, 2));   // before position 4, after the begin of 9
  EXPECT_TRUE(ordered(0, 0, 1, 3));   // and later in that rank
  EXPECT_FALSE(ordered(0, 0, 1, 1));  // in position 3
  EXPECT_FALSE(ordered(0, 2, 1, 2));  // after position 4
}

TEST_F(RaceOrderTest, WhatIsNotKnownCountsAsOrder) {
  note(0, any), note(1, any);
  EXPECT_TRUE(ordered(0, 0, 1, 1));
  EXPECT_FALSE(ordered(0, 1, 1, 1));  // nothing after it on rank 0
  log_.of(2).too_many_events = true;
  EXPECT_TRUE(ordered(0, 1, 1, 1));
}

TEST_F(RaceOrderTest, RandomTurnsAreOrderedAsASearchOfAllEventsOrdersThem) {
  std::mt19937 random(65);
  for (uint64_t ticket = 0; ticket < 60; ++ticket) {
    const auto rank = static_cast<int>(random() % ranks);
    const uint32_t lock = random() % 3;
    note(rank, acquire, lock, ticket), note(rank, random() % 16 == 0 ? any : release, lock, ticket);
  }
  RaceOrder order(log_, ranks);
  int some = 0, others = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto a = static_cast<int>(random() % ranks), b = static_cast<int>((a + 1 + random() % (ranks - 1)) % ranks);
    const auto at_a = static_cast<uint32_t>(random() % (log_.of(a).events + 1)),
               at_b = static_cast<uint32_t>(random() % (log_.of(b).events + 1));
    const bool expected = leads_to(a, at_a, b, at_b) || leads_to(b, at_b, a, at_a);
    EXPECT_EQ(ordered(order, a, at_a, b, at_b), expected) << a << ":" << at_a << " " << b << ":" << at_b;
    ++(expected ? some : others);
  }
  EXPECT_GT(some, 100);
  EXPECT_GT(others, 50);
}

// In a test of apps/bank they took minutes: each followed all events after it.
TEST_F(RaceOrderTest, AllSegmentsTogetherFollowEachEventOnce) {
  for (uint64_t i = 0; i + 1 < RankLog::most_events; i += 2)
    for (const int rank : {0, 1}) note(rank, acquire, 1, i + rank), note(rank, release, 1, i + rank);
  RaceOrder order(log_, ranks);
  for (uint32_t segment = 1; segment < RankLog::most_events; segment += 2)
    ASSERT_TRUE(ordered(order, 0, segment, 1, segment)) << segment;
}

TEST_F(RaceOrderTest, APageIsInConflictOnceTwoRanksMeetAndOneWrites) {
  EXPECT_FALSE(log_.touch(3, 1, 0, false).conflict());
  EXPECT_FALSE(log_.touch(3, 1, 1, false).conflict());
  EXPECT_TRUE(log_.touch(3, 1, 1, true).conflict());
  const PageWord next = log_.touch(3, 2, 1, true);  // another epoch
  EXPECT_FALSE(next.conflict());
  EXPECT_EQ(next.suspect, 1U);
}

// A change of a word orders what follows each later look at that word, and what may be any of them.
TEST_F(RaceOrderTest, WordsOrderByTime) {
  const uint32_t word = SyncEvent::words + 5, other = SyncEvent::words + 6;
  note(0, release, word, 100);
  note(1, acquire, word, 90);
  note(1, acquire, other, 200);
  note(2, acquire, word, 110);
  EXPECT_FALSE(ordered(0, 0, 1, 2));
  EXPECT_TRUE(ordered(0, 0, 2, 1));
  EXPECT_FALSE(ordered(0, 0, 2, 0));
  note(1, any);
  EXPECT_TRUE(ordered(0, 0, 1, 3));
}

}  // namespace
}  // namespace hiroba
