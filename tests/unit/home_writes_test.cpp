// Which home pages a rank has written, of those that others have copied: the home is rank 0; the copies are those of
// rank 1, whose cache runs in the same process, on the same memory.
#include "memory/notices/home_writes.hpp"

#include <random>
#include <set>

#include "cache_rank.hpp"

namespace hiroba {
namespace {

constexpr uint64_t first = CacheRank::first_page;
using Pages = std::set<uint64_t>;

class HomeWritesTest : public testing::Test {
 protected:
  void SetUp() override {
    Status status = CacheRank::works("shared");
    if (!status.ok()) GTEST_SKIP() << status.message();
    reader = std::make_unique<CacheRank>(CacheShape{.way = "shared", .rank = 1});
    copies = &reader->add(first, runs);
    ASSERT_TRUE(uffd.open(true).ok());
    ASSERT_TRUE(pagemap.open().ok());
    const Layout layout = CacheRank::layout();
    base = static_cast<char *>(
        mmap(nullptr, layout.extent(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, reader->home.fd(), 0));
    job.nranks = job.nnodes = CacheRank::nranks;
    job.place_evenly();
    job.node_fds = {reader->home.fd(), -1, -1};
    notices.start(base, layout, job);
    auto owned = std::make_unique<Array>();
    array = owned.get();
    array->first_page = array->end_page = first;
    for (const auto &[pages, rank] : runs) {
      array->homes.push_back({array->end_page, pages, rank});
      array->end_page += pages;
    }
    array->closable = true;
    arrays.insert(std::move(owned));
    sharers.start({layout, job, base, &reader->home, &arrays, &uffd});
    ASSERT_TRUE(writes.start({layout, job, base, &arrays, &uffd, &pagemap, &sharers}).ok());
  }
  void TearDown() override {
    if (base != nullptr) munmap(base, CacheRank::layout().extent());
  }

  // A write to a closed page faults, and the handler opens it.
  void write(uint64_t page) {
    (void)writes.quiet().open(first + page);
    const_cast<volatile char &>(base[(first + page) << page_shift]) = ++value;
  }
  bool was_closed(uint64_t page) { return writes.quiet().open(first + page); }
  // Others cannot make the kernel track this rank's writes.
  void forbid() { *reinterpret_cast<uint64_t *>(base + CacheRank::layout().tracking(0)) = 0; }
  // Rank 1 copies a page; at its first access, and again when its copy was dropped.
  void copy(uint64_t page) { EXPECT_EQ(base[(first + page) << page_shift], reader->at(first + page)); }
  // Rank 1 has an up-to-date copy, or none; what it had is not looked at.
  bool is_copied(uint64_t page) const { return reader->states.state(first + page) == PageState::valid; }
  bool is_tracked(uint64_t page) const { return (sharers.flags(first + page) & Sharers::tracked) != 0; }
  // The pages in the notices, counted from the array's first. After a barrier rank 1 has no copy of them.
  Pages collect(bool barrier) {
    writes.collect(notices, barrier);
    Pages out;
    for (uint64_t i = 0; i < notices.count(); ++i) {
      for (uint64_t p = 0; p < notices[i].pages(); ++p) out.insert(notices[i].page() + p - first);
      if (barrier) reader->cache->writeback.invalidate(notices[i].page(), notices[i].pages());
    }
    notices.turn();
    return out;
  }
  Pages barrier() { return collect(true); }
  Pages release() { return collect(false); }
  uint64_t faults() { return array->counters.home_faults.exchange(0); }

  const std::vector<std::pair<uint64_t, int>> runs = {{100, 0}, {412, 2}, {538, 0}};
  std::unique_ptr<CacheRank> reader;
  char *base = nullptr, value = 0;
  Job job;
  Userfaultfd uffd;
  Pagemap pagemap;
  NoticeLog notices;
  ArrayTable arrays;
  Array *array = nullptr, *copies = nullptr;  // at the home, and at the reader
  Sharers sharers;
  HomeWrites writes;
};

TEST_F(HomeWritesTest, PagesThatNobodyHasCopiedAreNotNoted) {
  for (uint64_t p = 0; p < 20; ++p) write(p);
  EXPECT_TRUE(writes.exact());
  EXPECT_EQ(Pages{}, barrier());
  EXPECT_EQ(0u, faults());
}

TEST_F(HomeWritesTest, WhatWasWrittenBeforeACopyIsNotNoted) {
  write(3);
  copy(3);
  EXPECT_EQ(Pages{}, barrier());
  EXPECT_TRUE(is_copied(3));
  write(3);
  EXPECT_EQ(Pages{3}, barrier());
  EXPECT_EQ(1u, faults());
}

TEST_F(HomeWritesTest, AWriteBetweenTheCopyAndTheFirstLookIsNoted) {
  copy(3);
  write(3);
  write(4);
  EXPECT_EQ(Pages{3}, barrier());
}

TEST_F(HomeWritesTest, TrackingEndsWithTheCopies) {
  copy(3);
  write(3);
  EXPECT_EQ(Pages{3}, barrier());
  EXPECT_FALSE(is_tracked(3));
  for (int epoch = 0; epoch < 3; ++epoch) {
    write(3);
    EXPECT_EQ(Pages{}, barrier());
  }
  EXPECT_EQ(1u, faults());
}

TEST_F(HomeWritesTest, APageThatIsCopiedAgainAndAgainIsNotedWheneverItIsWritten) {
  for (int epoch = 0; epoch < 5; ++epoch) {
    copy(3);
    EXPECT_EQ(Pages{}, barrier());
    write(3);
    write(4);
    EXPECT_EQ(Pages{3}, barrier());
    EXPECT_FALSE(is_copied(3));
    EXPECT_EQ(epoch > 0, is_tracked(3)) << "it stays tracked from the second time on";
  }
  EXPECT_EQ(5u, faults());
  const auto registrations = sharers.count();
  copy(3);
  EXPECT_EQ(registrations, sharers.count());
  write(3);
  EXPECT_EQ(Pages{3}, barrier());
}

TEST_F(HomeWritesTest, TrackingOfSuchAPageEndsAtTheSecondWriteWithoutACopy) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    copy(3);
    write(3);
    EXPECT_EQ(Pages{3}, barrier());
  }
  EXPECT_EQ(3u, faults());
  for (const bool tracked : {true, false}) {
    write(3);
    EXPECT_EQ(Pages{}, barrier()) << "nobody has a copy";
    EXPECT_EQ(1u, faults());
    EXPECT_EQ(tracked, is_tracked(3));
  }
  write(3);
  EXPECT_EQ(Pages{}, barrier());
  EXPECT_EQ(0u, faults());
  copy(3);
  write(3);
  EXPECT_EQ(Pages{3}, barrier());
}

TEST_F(HomeWritesTest, APageThatIsCopiedAfterEverySecondBarrierStaysTracked) {
  uint64_t registrations = 0;
  for (int epoch = 0; epoch < 10; ++epoch) {
    copy(3);
    write(3);
    EXPECT_EQ(Pages{3}, barrier());
    write(3);
    EXPECT_EQ(Pages{}, barrier());
    if (epoch == 2) registrations = sharers.count();
  }
  EXPECT_EQ(registrations, sharers.count());
}

TEST_F(HomeWritesTest, PagesThatNobodyWritesAreClosedToWrites) {
  for (const uint64_t p : {3, 4, 5, 90, 600}) copy(p);
  for (int epoch = 0; epoch < 40; ++epoch) {
    write(5);
    barrier();
    copy(5);
  }
  EXPECT_FALSE(was_closed(5));
  EXPECT_FALSE(was_closed(6)) << "nobody has copied it";
  faults();
  write(600);
  write(4);
  EXPECT_EQ((Pages{4, 600}), barrier());
  EXPECT_TRUE(was_closed(3));
  write(90);
  EXPECT_EQ((Pages{90}), release());
}

TEST_F(HomeWritesTest, FreedPagesAreOpen) {
  copy(3);
  for (int epoch = 0; epoch < 40; ++epoch) barrier();
  const PageRun all = {array->first_page, array->end_page - array->first_page};
  writes.remove({&all, 1});
  EXPECT_FALSE(was_closed(3));
  base[(first + 3) << page_shift] = 1;
}

// After a barrier no copy lacks a write: pages are written and copied by habits that change.
TEST_F(HomeWritesTest, NoCopyLacksAWriteAfterABarrier) {
  constexpr uint64_t pages = 24;
  std::mt19937 random(7);
  const auto one_in = [&random](unsigned n) { return random() % n == 0; };
  std::vector<bool> written(pages), copied(pages);
  unsigned seen = 0;
  for (int epoch = 0; epoch < 3000; ++epoch) {
    if (epoch % 40 == 0)
      for (uint64_t p = 0; p < pages; ++p) written[p] = one_in(2), copied[p] = one_in(2);
    const auto act = [&] {
      for (uint64_t p = 0; p < pages; ++p) {
        const bool copies_first = one_in(2);
        if (copies_first && copied[p] != one_in(30)) seen += reader->at(first + p);
        if (written[p] != one_in(30)) write(p);
      }
    };
    act();
    if (epoch / 500 % 2 == 1 && one_in(9)) writes.collect(notices, false), act();
    barrier();
    for (uint64_t p = 0; p < pages; ++p) {
      if (!is_copied(p)) continue;
      ASSERT_EQ(base[(first + p) << page_shift], reader->at(first + p)) << p << " in " << epoch;
    }
  }
  EXPECT_NE(0u, seen);
}

TEST_F(HomeWritesTest, ReleasesEndNoTracking) {
  copy(3);
  for (int epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(Pages{}, release());
    write(3);
    EXPECT_EQ(Pages{3}, release());
  }
  write(3);
  EXPECT_EQ(Pages{3}, barrier());
  EXPECT_EQ(5u, faults());
}

TEST_F(HomeWritesTest, ABarrierEndsTheTrackingOfWhatReleasesHaveNoted) {
  for (int time = 0; time < 3; ++time) {
    copy(3);
    write(3);
    writes.collect(notices, false);
    EXPECT_EQ(Pages{3}, barrier()) << "the notices of the epoch";
    EXPECT_FALSE(is_copied(3));
    EXPECT_EQ(1u, faults());
    EXPECT_EQ(time > 0, is_tracked(3));
  }
  write(3);
  EXPECT_EQ(Pages{}, release()) << "nobody has a copy";
  EXPECT_FALSE(is_tracked(3));
  write(3);
  EXPECT_EQ(Pages{}, barrier());
  EXPECT_EQ(1u, faults());
}

TEST_F(HomeWritesTest, NoticesThatWereClearedEndNoTracking) {
  copy(3);
  write(3);
  EXPECT_EQ(Pages{3}, release()) << "and clears them";
  EXPECT_EQ(Pages{}, barrier());
  EXPECT_TRUE(is_tracked(3));
  write(3);
  EXPECT_EQ(Pages{3}, barrier());
}

TEST_F(HomeWritesTest, ACopyOfAnEarlierEpochIsStillTracked) {
  copy(3);
  copy(4);
  for (int epoch = 0; epoch < 5; ++epoch) {
    write(3);
    EXPECT_EQ(Pages{3}, barrier());
    copy(3);
  }
  write(4);
  EXPECT_EQ(Pages{4}, barrier());
}

TEST_F(HomeWritesTest, WhereOthersCannotTrackTheHomeDoesOnce) {
  forbid();
  write(3);
  copy(3);
  EXPECT_EQ(Pages{3}, barrier()) << "what was written before the copy was not tracked";
  for (int epoch = 0; epoch < 3; ++epoch) {
    copy(3);
    EXPECT_EQ(Pages{}, barrier());
    write(3);
    write(4);
    EXPECT_EQ(Pages{3}, barrier());
  }
  for (int epoch = 0; epoch < 2; ++epoch) {
    write(3);
    EXPECT_EQ(Pages{}, barrier());
  }
  copy(3);
  EXPECT_EQ(Pages{3}, barrier());
}

TEST_F(HomeWritesTest, PagesFarFromEachOther) {
  const Pages copied = {0, 40, 99, 512, 513, 600, 1049};
  for (const uint64_t p : copied) copy(p);
  EXPECT_EQ(Pages{}, barrier());
  for (const uint64_t p : copied) write(p);
  write(50);
  write(601);
  EXPECT_EQ(copied, barrier());
  EXPECT_EQ(Pages{}, barrier());
  copy(1049);
  write(1049);
  EXPECT_EQ(Pages{1049}, barrier());
}

TEST_F(HomeWritesTest, PagesThatAreScannedTogetherAreStillToldApart) {
  copy(10);
  copy(13);
  for (int epoch = 0; epoch < 3; ++epoch) {
    write(11);
    write(13);
    EXPECT_EQ(Pages{13}, barrier());
    copy(13);
    write(9);
    write(12);
    write(10);
    EXPECT_EQ(Pages{10}, barrier());
    copy(10);
  }
}

TEST_F(HomeWritesTest, ARunThatIsCopiedAtOnce) {
  const auto preload = [&](uint64_t from, uint64_t to) {
    reader->cache->fetches.start_preload(*copies, first + from, first + to);
    reader->cache->fetches.finish();
  };
  copy(3);
  preload(2, 5);
  preload(1020, 1030);  // over the border of two chunks
  EXPECT_EQ(Pages{}, barrier());
  for (const uint64_t p : {3, 4, 5, 1019, 1021, 1028}) write(p);
  EXPECT_EQ((Pages{3, 4, 1021, 1028}), barrier());
}

TEST_F(HomeWritesTest, ManyPagesAtOnce) {
  for (uint64_t p = 530; p < 1030; ++p) copy(p);
  EXPECT_EQ(Pages{}, barrier());
  for (int epoch = 0; epoch < 3; ++epoch) {
    Pages written;
    for (uint64_t p = 530; p < 1030; p += 7) write(p), written.insert(p);
    EXPECT_EQ(written, barrier());
    for (const uint64_t p : written) copy(p);
  }
}

TEST_F(HomeWritesTest, MoreRegistrationsThanTheRingHolds) {
  copy(7);
  copy(99);
  copy(1000);
  *reinterpret_cast<uint64_t *>(base + CacheRank::layout().registrations(0)) += Layout::registration_slots;
  EXPECT_EQ(Pages{}, barrier());
  for (const uint64_t p : {7, 8, 98, 99, 1000}) write(p);
  EXPECT_EQ((Pages{7, 99, 1000}), barrier());
}

TEST_F(HomeWritesTest, AFreedArrayIsNotLookedAt) {
  copy(5);
  EXPECT_EQ(Pages{}, barrier());
  const PageRun all = {array->first_page, array->end_page - array->first_page};
  writes.remove({&all, 1});
  write(5);
  EXPECT_EQ(Pages{}, barrier());
}

TEST_F(HomeWritesTest, WithoutTrackingNothingIsKnown) {
  Userfaultfd closed;
  HomeWrites blind;
  ASSERT_TRUE(blind.start({CacheRank::layout(), job, base, &arrays, &closed, &pagemap, &sharers}).ok());
  EXPECT_FALSE(blind.exact());
  EXPECT_TRUE(blind.collect(notices, true)) << "nobody has a copy";
  copy(3);
  EXPECT_FALSE(blind.collect(notices, true));
  EXPECT_EQ(0u, notices.count());
}

}  // namespace
}  // namespace hiroba
