// Copies that flushes have found unwritten, and that are closed to writes; and what becomes of them when the kernel
// takes them out of the view.
#include "cache_rank.hpp"

namespace hiroba {
namespace {

// The kernel may take any page out of the view. Of a closed one it leaves a mark that looks like a write, so the thread
// that compares the page, and holds it busy, faults: it waited for itself.
class ClosedCacheTest : public CacheFixture {
 protected:
  static constexpr uint64_t last = first + 20;

  void make_quiet(uint64_t limit_pages = 4096) {
    make({.limit_pages = limit_pages, .closes = closes()});
    read(first, last);
  }
  void flush_until_closed() {
    for (int flushes = 0; flushes < 6; ++flushes) cache().writeback.flush(false);
    for (uint64_t p = first; p < last; ++p) EXPECT_EQ(closes(), cache().copies.closed.is_closed(p)) << p - first;
  }
  static bool closes() { return std::get<0>(GetParam()) == "private"; }
  // As the kernel does when it gathers or reclaims memory. What was written is not in the file, and stays.
  void unmap_all() {
    for (uint64_t p = first; p < last; ++p) madvise(cache().copies.view(p), page_bytes, MADV_DONTNEED);
  }
};
TEST_P(ClosedCacheTest, PagesThatTheKernelHasTakenAwayAreDropped) {
  for (const bool alone : {false, true}) {
    make_quiet();
    flush_until_closed();
    unmap_all();
    cache().writeback.flush_and_drop(alone);
    others_write(first, last, 3);
    read(first, last);
    rank->at(first + 2, 9) = 4;
    cache().writeback.flush(false);
    EXPECT_EQ(4, rank->home_at(first + 2, 9));
  }
}

TEST_P(ClosedCacheTest, PagesThatTheKernelHasTakenAwayAreClosedOrFound) {
  make_quiet();
  unmap_all();
  for (int flushes = 0; flushes < 6; ++flushes) cache().writeback.flush(false);
  for (uint64_t p = first; p < last; ++p) rank->at(p, 9) = 4;
  cache().writeback.flush(false);
  for (uint64_t p = first; p < last; ++p) EXPECT_EQ(4, rank->home_at(p, 9)) << p - first;
}

TEST_P(ClosedCacheTest, PagesThatTheKernelHasTakenAwayAreEvicted) {
  make_quiet(32);
  flush_until_closed();
  unmap_all();
  read(first + 150, first + 200);
  read(first, last);
}

TEST_P(ClosedCacheTest, WritesToClosedPagesAreFound) {
  make_quiet();
  flush_until_closed();
  rank->at(first + 5, 7) = 9;
  EXPECT_FALSE(cache().copies.closed.is_closed(first + 5));
  cache().writeback.flush(false);
  EXPECT_EQ(9, rank->home_at(first + 5, 7));
}

// Atomic operations of OpenMP programs release in each iteration, and write a page of their own now and then: each
// release compared all pages that had ever been written.
TEST_P(ClosedCacheTest, PagesThatAreWrittenSeldomAreClosedAlone) {
  make_quiet();
  for (uint64_t p = first; p < last; ++p) rank->at(p, 9) = 1;
  int64_t value = 0;
  const auto closed = [&](uint64_t p) { return cache().copies.closed.is_closed(p); };
  const auto release_beside_writes = [&] {
    for (int flushes = 0; flushes < 40; ++flushes) {
      rank->at(first + 5, 7) = ++value;
      cache().writeback.flush(false);
      EXPECT_EQ(value, rank->home_at(first + 5, 7));
    }
  };
  release_beside_writes();
  for (uint64_t p = first; p < last; ++p) EXPECT_EQ(closes() && p != first + 5, closed(p)) << p - first;
  rank->at(first + 6, 9) = 8;
  EXPECT_FALSE(closed(first + 6));
  cache().writeback.flush(false);
  EXPECT_EQ(8, rank->home_at(first + 6, 9));
  release_beside_writes();
  EXPECT_EQ(closes(), closed(first + 6));
}

// As barriers flush.
TEST_P(ClosedCacheTest, PagesThatAreFetchedNoMoreAreClosedByBarriersToo) {
  make_quiet();
  const auto closed = [&] { return cache().copies.closed.is_closed(first + 5); };
  for (int flushes = 0; flushes < 12; ++flushes) cache().writeback.flush(true);
  cache().writeback.invalidate(first + 3, 1);
  for (int flushes = 0; flushes < 8; ++flushes) {
    read(first + 3, first + 4);
    cache().writeback.flush(true);
    EXPECT_FALSE(closed()) << "a page of the chunk is fetched again after each barrier";
    cache().writeback.invalidate(first + 3, 1);
  }
  for (int flushes = 0; flushes < 16; ++flushes) cache().writeback.flush(true);
  EXPECT_EQ(closes(), closed());
  rank->at(first + 5, 7) = 9;
  cache().writeback.flush(true);
  EXPECT_EQ(9, rank->home_at(first + 5, 7));
  cache().writeback.invalidate(first, 20);
  others_write(first, last, 3);
  read(first, last);
}

// What others have written to a closed page goes into the copy that the program sees; now and then it is dropped
// instead.
TEST_P(ClosedCacheTest, FewClosedPagesAreRefreshedInPlace) {
  make_quiet();
  flush_until_closed();
  others_write(first, first + 3, 3);
  const Notice written[] = {Notice::make(first, 3)};
  cache().writeback.update(written);
  for (uint64_t p = first; p < first + 3; ++p) {
    EXPECT_TRUE(is_state(p, closes() ? PageState::valid : PageState::stale)) << p - first;
    EXPECT_EQ(closes(), cache().copies.closed.is_closed(p)) << p - first;
  }
  read(first, last);
  rank->at(first + 1, 9) = 4;
  cache().writeback.flush(false);
  EXPECT_EQ(4, rank->home_at(first + 1, 9));
  EXPECT_EQ(3, rank->home_at(first + 1)) << "an old word was sent home";
  uint64_t dropped = 0;
  for (int times = 0; closes() && times < static_cast<int>(Refreshes::trial); ++times) {
    const Notice again[] = {Notice::make(first + 7, 1)};
    cache().writeback.update(again);
    dropped += is_state(first + 7, PageState::stale) ? 1 : 0;
    read(first + 7, first + 8);
    for (int flushes = 0; flushes < 6; ++flushes) cache().writeback.flush(false);
  }
  EXPECT_EQ(closes() ? 1u : 0u, dropped);
}

INSTANTIATE_CACHE_TESTS(ClosedCacheTest);

}  // namespace
}  // namespace hiroba
