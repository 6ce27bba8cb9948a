// Which home pages a rank has written, of those that others have copied: the home is rank 0; the copies are those of
// rank 1, whose cache runs in the same process, on the same memory.
#include "memory/cache/home_writes.hpp"

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
    ASSERT_TRUE(states.create(layout.pages()).ok());
    base = static_cast<char *>(
        mmap(nullptr, layout.extent(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, reader->home.fd(), 0));
    job.nranks = job.nnodes = CacheRank::nranks;
    job.place_evenly();
    job.node_fds = {reader->home.fd(), -1, -1};
    notices.start(base, layout, 0);
    auto owned = std::make_unique<Array>();
    array = owned.get();
    array->first_page = array->end_page = first;
    for (const auto &[pages, rank] : runs) {
      array->homes.push_back({array->end_page, pages, rank});
      array->end_page += pages;
    }
    arrays.insert(std::move(owned));
    writes.start(base, layout, job, &arrays, &uffd, &pagemap, &states);
  }
  void TearDown() override {
    if (base != nullptr) munmap(base, CacheRank::layout().extent());
  }

  void write(uint64_t page) { const_cast<volatile char &>(base[(first + page) << page_shift]) = ++value; }
  // Rank 1 copies a page; at its first access, and again when its copy was dropped.
  void copy(uint64_t page) { EXPECT_EQ(base[(first + page) << page_shift], reader->at(first + page)); }
  // The pages in the notices of this epoch, counted from the array's first.
  Pages collect() {
    writes.collect(notices);
    Pages out;
    for (uint64_t i = 0; i < notices.count(); ++i)
      for (uint64_t p = 0; p < notices[i].pages(); ++p) out.insert(notices[i].page() + p - first);
    notices.turn();
    return out;
  }

  const std::vector<std::pair<uint64_t, int>> runs = {{100, 0}, {412, 2}, {538, 0}};
  std::unique_ptr<CacheRank> reader;
  char *base = nullptr, value = 0;
  Job job;
  Userfaultfd uffd;
  Pagemap pagemap;
  PageStates states;
  NoticeLog notices;
  ArrayTable arrays;
  Array *array = nullptr, *copies = nullptr;  // at the home, and at the reader
  HomeWrites writes;
};

TEST_F(HomeWritesTest, PagesThatNobodyHasCopiedAreNotNoted) {
  for (uint64_t p = 0; p < 20; ++p) write(p);
  EXPECT_TRUE(writes.exact());
  EXPECT_EQ(Pages{}, collect());
}

TEST_F(HomeWritesTest, ACopiedPageIsNotedOnceAndThenWheneverItIsWritten) {
  write(3);
  copy(3);
  EXPECT_EQ(Pages{3}, collect()) << "what was written before the copy was not tracked";
  EXPECT_EQ(Pages{}, collect());
  for (int epoch = 0; epoch < 3; ++epoch) {
    write(3);
    write(4);
    EXPECT_EQ(Pages{3}, collect());
    EXPECT_EQ(Pages{}, collect());
  }
  copy(4);
  EXPECT_EQ(Pages{4}, collect());
  write(3);
  write(4);
  EXPECT_EQ((Pages{3, 4}), collect());
}

TEST_F(HomeWritesTest, PagesFarFromEachOther) {
  const Pages copied = {0, 40, 99, 512, 513, 600, 1049};
  for (const uint64_t p : copied) copy(p);
  EXPECT_EQ(copied, collect());
  for (const uint64_t p : copied) write(p);
  write(50);
  write(601);
  EXPECT_EQ(copied, collect());
  EXPECT_EQ(Pages{}, collect());
  write(1049);
  EXPECT_EQ(Pages{1049}, collect());
}

TEST_F(HomeWritesTest, PagesThatAreScannedTogetherAreStillToldApart) {
  copy(10);
  copy(13);
  EXPECT_EQ((Pages{10, 13}), collect());
  collect();  // the pages between are protected from now on, too
  write(13);
  EXPECT_EQ(Pages{13}, collect());
  write(10);
  EXPECT_EQ(Pages{10}, collect());
  write(11);
  write(9);
  const Pages noted = collect();
  EXPECT_FALSE(noted.contains(9));
  EXPECT_FALSE(noted.contains(13));
}

TEST_F(HomeWritesTest, ARunThatIsCopiedAtOnce) {
  const auto preload = [&](uint64_t from, uint64_t to) {
    reader->cache->fetches.start_preload(*copies, first + from, first + to);
    reader->cache->fetches.finish();
  };
  copy(3);
  collect();
  reader->cache->writeback.invalidate(first + 3, 1);
  preload(2, 5);
  EXPECT_EQ((Pages{2, 4}), collect()) << "page 3 is tracked already";
  preload(1020, 1030);  // over the border of two chunks
  EXPECT_EQ(10u, collect().size());
  EXPECT_EQ(Pages{}, collect());
  write(1021);
  write(1028);
  EXPECT_EQ((Pages{1021, 1028}), collect());
}

TEST_F(HomeWritesTest, ManyPagesAtOnce) {
  for (uint64_t p = 530; p < 1030; ++p) copy(p);
  EXPECT_EQ(500u, collect().size());
  EXPECT_EQ(Pages{}, collect());
  Pages written;
  for (uint64_t p = 530; p < 1030; p += 7) write(p), written.insert(p);
  EXPECT_EQ(written, collect());
}

TEST_F(HomeWritesTest, MoreRegistrationsThanTheRingHolds) {
  copy(7);
  copy(99);
  copy(1000);
  *reinterpret_cast<uint64_t *>(base + CacheRank::layout().registrations(0)) += Layout::registration_slots;
  EXPECT_EQ((Pages{7, 99, 1000}), collect());
  EXPECT_EQ(Pages{}, collect());
  write(99);
  write(98);
  EXPECT_EQ(Pages{99}, collect());
}

TEST_F(HomeWritesTest, AFreedArrayIsNotLookedAt) {
  copy(5);
  EXPECT_EQ(Pages{5}, collect());
  const PageRun all = {array->first_page, array->end_page - array->first_page};
  writes.remove({&all, 1});
  write(5);
  EXPECT_EQ(Pages{}, collect());
}

TEST_F(HomeWritesTest, WithoutTrackingNothingIsKnown) {
  Userfaultfd closed;
  HomeWrites blind;
  blind.start(base, CacheRank::layout(), job, &arrays, &closed, &pagemap, &states);
  EXPECT_FALSE(blind.exact());
  copy(3);
  blind.collect(notices);
  EXPECT_EQ(0u, notices.count());
}

}  // namespace
}  // namespace hiroba
