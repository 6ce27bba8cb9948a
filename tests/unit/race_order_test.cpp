#include "memory/check/race_order.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

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
  bool ordered(int a, uint32_t segment_a, int b, uint32_t segment_b) {
    return RaceOrder(log_, ranks).ordered(a, segment_a, b, segment_b);
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
