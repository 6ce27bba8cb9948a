// The ways to see accesses, each on its own: what was written is told exactly, what is discarded faults again.
#include "memory/cache/tracker.hpp"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>

#include <cstring>
#include <string>

namespace hiroba {
namespace {

constexpr size_t page = 4096, pages = 64;

sigjmp_buf escape;
void on_fault(int) { siglongjmp(escape, 1); }

bool faults(volatile char* at) {
  if (sigsetjmp(escape, 1) != 0) return true;
  (void)*at;
  return false;
}

class TrackerTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    struct sigaction action = {};
    action.sa_handler = on_fault;
    sigaction(SIGBUS, &action, &bus_);
    sigaction(SIGSEGV, &action, &segv_);
    ASSERT_TRUE(cache_.create("test", pages * page).ok());
    ASSERT_TRUE(pagemap_.open().ok());
    base_ =
        static_cast<char*>(mmap(nullptr, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const bool shared = GetParam() == "shared";
    if (GetParam() != "mprotect") {
      const Status status = uffd_.open(shared);
      if (!status.ok()) GTEST_SKIP() << status.message();
    }
    const TrackerParts parts = {base_, pages * page, cache_, uffd_, pagemap_};
    tracker_ = shared ? make_shared_tracker(parts) : make_private_tracker(parts);
    ASSERT_TRUE(tracker_->start().ok());
    ASSERT_TRUE(tracker_->map(base_, pages * page, 0).ok());
  }
  void TearDown() override {
    sigaction(SIGBUS, &bus_, nullptr);
    sigaction(SIGSEGV, &segv_, nullptr);
    if (base_ != nullptr) munmap(base_, pages * page);
  }

  // As the cache does: data into the cache file, then visible.
  void bring(size_t first, size_t count, char value) {
    std::memset(cache_.data() + first * page, value, count * page);
    tracker_->install(base_ + first * page, count * page);
  }
  PageBits written() {
    PageBits bits;
    tracker_->collect(base_, pages, bits);
    return bits;
  }

  struct sigaction bus_ = {}, segv_ = {};
  SparseFile cache_;
  Userfaultfd uffd_;
  Pagemap pagemap_;
  char* base_ = nullptr;
  std::unique_ptr<Tracker> tracker_;
};

TEST_P(TrackerTest, AbsentPagesFaultAndInstalledOnesDoNot) {
  EXPECT_TRUE(faults(base_ + 3 * page));
  bring(3, 2, 'x');
  EXPECT_FALSE(faults(base_ + 3 * page));
  EXPECT_EQ('x', base_[4 * page + 17]);
  EXPECT_TRUE(faults(base_ + 5 * page));
}

TEST_P(TrackerTest, ExactlyTheWrittenPagesAreCollected) {
  bring(0, pages, 'a');
  written();
  for (size_t p = 0; p < pages; ++p) EXPECT_EQ('a', base_[p * page]);  // reading is not writing
  for (const size_t p : {1, 2, 40}) base_[p * page + 5] = 'b';
  const PageBits bits = written();
  for (size_t p = 0; p < pages; ++p) EXPECT_EQ(p == 1 || p == 2 || p == 40, bits.test(p)) << "page " << p;
  EXPECT_EQ('b', tracker_->content(base_ + 40 * page)[5]);
}

TEST_P(TrackerTest, APageWrittenAgainIsCollectedAgain) {
  bring(0, 4, 'a');
  base_[page] = 'b';
  EXPECT_TRUE(written().test(1));
  base_[page] = 'c';
  EXPECT_TRUE(written().test(1));
}

TEST_P(TrackerTest, TheTwinIsTheUnwrittenPage) {
  if (tracker_->twin_at_fetch()) GTEST_SKIP() << "this tracker's twins are the cache's business";
  bring(0, 4, 'a');
  base_[2 * page] = 'b';
  EXPECT_EQ('a', cache_.data()[2 * page]);
  EXPECT_EQ('b', base_[2 * page]);
}

TEST_P(TrackerTest, SettledPagesAreCleanUntilWrittenAgain) {
  bring(0, 4, 'a');
  base_[page] = 'b';
  written();
  cache_.data()[page] = 'b';  // as the diff does to the twin; where there is none, it is the page itself
  tracker_->drop_private(base_ + page, page);
  EXPECT_FALSE(written().test(1));
  EXPECT_EQ('b', base_[page]);
  base_[page] = 'c';
  EXPECT_TRUE(written().test(1));
}

TEST_P(TrackerTest, AWriteJustBeforeFreezingIsNotLost) {
  for (const bool alone : {true, false}) {
    bring(8, 8, 'a');
    written();
    base_[9 * page + 1] = 'z';
    tracker_->freeze(base_ + 8 * page, 8 * page, alone);
    PageBits bits;
    tracker_->collect(base_ + 8 * page, 8, bits);
    EXPECT_TRUE(bits.test(1));
    EXPECT_FALSE(bits.test(2));
    EXPECT_EQ('z', tracker_->content(base_ + 9 * page)[1]);
    tracker_->discard(base_ + 8 * page, 8 * page, alone);
    for (size_t p = 8; p < 16; ++p) EXPECT_TRUE(faults(base_ + p * page)) << "page " << p;
    bring(8, 8, 'n');
    EXPECT_EQ('n', base_[9 * page + 1]);
    base_[9 * page] = 'm';  // and it can be written again
    EXPECT_EQ('m', base_[9 * page]);
    tracker_->freeze(base_ + 8 * page, 8 * page, true);
    tracker_->discard(base_ + 8 * page, 8 * page, true);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, TrackerTest, testing::Values("shared", "private", "mprotect"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hiroba
