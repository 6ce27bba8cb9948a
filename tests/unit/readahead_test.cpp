// What a fault brings beside its page: what was in use, pages without memory, chunks that are read in no order.
#include "cache_rank.hpp"

namespace hiroba {
namespace {

class ReadaheadTest : public CacheFixture {
 protected:
  static constexpr uint64_t readahead = 512;

  // All copies become stale, as by notices of all pages.
  void write_elsewhere(char value) {
    others_write(first, first + 100, value);
    others_write(first + 150, end, value);
    drop();
  }
  uint64_t fetched_by(uint64_t from, uint64_t to) {
    const uint64_t before = array->counters.fetched.load();
    read(from, to);
    return array->counters.fetched.load() - before;
  }
  void remove_memory(uint64_t from, uint64_t to) {
    punch_hole(rank->home.fd(), from << page_shift, (to - from) << page_shift);
  }
  uint64_t gets() const { return rank->home.take_gets().size(); }
};
INSTANTIATE_CACHE_TESTS(ReadaheadTest);

TEST_P(ReadaheadTest, NeighboursThatAreNotUsedAnyMoreComeOnceMore) {
  make({.readahead_pages = readahead});
  read(first, first + 100);
  write_elsewhere(2);
  EXPECT_EQ(86u, fetched_by(first, first + 1)) << "all but what may be a guess of the sequence's last window";
  for (char step = 3; step < 20; ++step) {
    write_elsewhere(step);
    EXPECT_EQ(1u, fetched_by(first, first + 1));
  }
}

TEST_P(ReadaheadTest, NeighboursThatAreUsedComeByOneFetch) {
  make({.readahead_pages = readahead});
  read(first, first + 100);
  for (char step = 2; step < 40; ++step) {
    write_elsewhere(step);
    const uint64_t before = faults();
    read(first, first + 80);
    EXPECT_LE(faults() - before, step < 4 ? 4u : 1u) << "step " << int{step};
  }
}

TEST_P(ReadaheadTest, PagesThatWereWrittenOnlyDoNotComeWithOthers) {
  make({.readahead_pages = readahead});
  for (uint64_t p = first; p < first + 100; ++p) rank->at(p, 9) = 1;
  drop();
  others_write(first, first + 100, 3);
  EXPECT_EQ(1u, fetched_by(first + 20, first + 21));
}

TEST_P(ReadaheadTest, PagesWithoutMemoryAreKnownByTwoQuestions) {
  make({.limit_pages = 32 * readahead, .readahead_pages = readahead});
  remove_memory(first + 150, end - 10);
  read(first + 150, first + 151);
  rank->home.take_gets();
  for (uint64_t p = first + 151; p < end - 10; ++p) rank->at(p, 5) = 7;
  EXPECT_EQ(2u, gets()) << "of a word each";
  EXPECT_EQ(1u, array->counters.fetched.load());
  drop();
  for (uint64_t p = first + 151; p < end - 10; ++p) ASSERT_EQ(7, rank->home_at(p, 5));
  read(first + 150, end);
}

// Another thread of the rank may have acquired what the home writes between the answer and the claim, and have found no
// copy to invalidate.
TEST_P(ReadaheadTest, AWriteBetweenTheAnswerAndTheClaimIsSeen) {
  make({.limit_pages = 32 * readahead, .readahead_pages = readahead});
  remove_memory(first, first + 100);
  int questions = 0;
  rank->home.before_get = [&](uint64_t bytes) {
    if (bytes == sizeof(uint64_t) && ++questions == 2) rank->home_at(first + 40, 8) = 6;
  };
  for (uint64_t p = first; p < first + 100; ++p) EXPECT_EQ(p == first + 40 ? 6 : 0, rank->at(p, 8)) << p - first;
  EXPECT_EQ(2, questions);
  EXPECT_EQ(100u, array->counters.fetched.load());
}

TEST_P(ReadaheadTest, ALaterWriteToAPageThatWasEmptyIsSeen) {
  make({.readahead_pages = readahead});
  remove_memory(first, first + 100);
  read(first, first + 100);
  EXPECT_NE(0, rank->home.memory()[CacheRank::layout().directory(1) + first + 99]) << "its writes are tracked";
  write_elsewhere(5);
  read(first, first + 100);
}

TEST_P(ReadaheadTest, AHomeThatHasWrittenZerosIsAskedMoreAndMoreRarely) {
  make({.readahead_pages = 1});
  for (uint64_t p = first + 150; p < end; ++p) std::memset(&rank->home_at(p), 0, page_bytes);
  read(first + 150, end);
  const auto asked = [](const Pieces& pieces) {
    return std::count_if(pieces.begin(), pieces.end(), [](const auto& piece) { return piece.bytes == 8; });
  };
  EXPECT_EQ(0, asked(rank->home.take_gets())) << "readahead is off";
  make({.readahead_pages = 2});
  for (uint64_t p = first + 150; p < end; ++p) std::memset(&rank->home_at(p), 0, page_bytes);
  read(first + 150, end);
  const auto questions = asked(rank->home.take_gets());
  EXPECT_GE(questions, 4);
  EXPECT_LE(questions, 8) << "after 1, 2, 4, 8, ... occasions";
}

TEST_P(ReadaheadTest, AccessesInNoOrderBringTheRestOfTheChunk) {
  make({.readahead_pages = readahead});
  for (uint64_t i = 0, p = 0; i < 150; ++i, p = (p + 61) % 150) read(first + 150 + p, first + 151 + p);
  EXPECT_LE(faults(), 120u);
  EXPECT_EQ(150u, array->counters.fetched.load());
}

TEST_P(ReadaheadTest, StridesBringNothingElse) {
  make({.readahead_pages = readahead});
  for (uint64_t p = first + 150; p < end; p += 2) read(p, p + 1);
  for (uint64_t p = first + 98; p > first + 1; p -= 3) read(p, p + 1);
  EXPECT_EQ(75u + 33u, array->counters.fetched.load());
}

TEST(Trials, MoreNeighboursThanUsualAreTriedAtOnceAndOthersRarely) {
  Trials trials;
  EXPECT_TRUE(trials.due(7, 10)) << "nothing is known";
  EXPECT_TRUE(trials.due(50, 12)) << "not judged yet";
  trials.used(8, 10);
  EXPECT_FALSE(trials.due(7, 10)) << "all were used";
  EXPECT_TRUE(trials.due(50, 12));
  trials.used(51, 3);
  int due = 0;
  for (int i = 0; i < 1000; ++i) due += trials.due(50, 3), trials.used(51, 3);
  EXPECT_LE(due, 10);
  EXPECT_TRUE(trials.due(50, 4));
}

}  // namespace
}  // namespace hiroba
