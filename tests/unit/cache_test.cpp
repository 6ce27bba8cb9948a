// The page cache alone: what it fetches, what it sends home, what stays, what goes; by each way to see writes, and with
// homes that it reaches as memory and over a network.
#include <chrono>
#include <random>

#include "cache_rank.hpp"

namespace hiroba {
namespace {

class CacheTest : public CacheFixture {};

// ---- faults ---------------------------------------------------------------------------------------------------------

TEST_P(CacheTest, AnAbsentPageIsFetchedWhenItIsTouched) {
  make();
  EXPECT_EQ(initial(first + 3), rank->at(first + 3, 17));
  EXPECT_EQ(initial(first + 3), rank->at(first + 3, page_bytes - 1));
  expect_gets({pages(first + 3, 1)});
  EXPECT_EQ(1u, faults());
  EXPECT_EQ(1u, cache().copies.resident());
  EXPECT_TRUE(is_state(first + 3, PageState::valid));
  EXPECT_TRUE(is_state(first + 4, PageState::absent));
  EXPECT_EQ(page_bytes, array->counters.bytes_fetched.load());
  EXPECT_EQ(1u, array->counters.fetched.load());
  EXPECT_EQ(1u, array->counters.cached.load());
}

TEST_P(CacheTest, APageOfThisNodeIsNotTheCachesBusiness) {
  make();
  EXPECT_FALSE(cache().fetches.fault(*array, first + 100, FaultKind::load));
  EXPECT_FALSE(cache().fetches.fault(*array, first + 149, FaultKind::store));
  EXPECT_TRUE(cache().fetches.fault(*array, first + 99, FaultKind::load));
  EXPECT_TRUE(cache().fetches.fault(*array, first + 150, FaultKind::load));
}

TEST_P(CacheTest, AFaultOnAPageThatHasComeFetchesNothing) {
  make();
  read(first, first + 1);
  rank->home.take_gets();
  EXPECT_TRUE(cache().fetches.fault(*array, first, FaultKind::load)) << "another thread was faster";
  expect_gets({});
  EXPECT_TRUE(is_state(first, PageState::valid));
}

TEST_P(CacheTest, ASequenceOfFaultsBringsMoreAndMore) {
  make({.readahead_pages = 32});
  read(first, first + 100);
  EXPECT_EQ(6u, faults());
  EXPECT_EQ(100u, array->counters.fetched.load());
  expect_gets({pages(first, 1), pages(first + 1, 4), pages(first + 5, 16), pages(first + 21, 32), pages(first + 53, 32),
               pages(first + 85, 15)});
}

TEST_P(CacheTest, WhatWasInUseIsFetchedTogetherAndWhatWasAGuessIsNot) {
  make({.readahead_pages = 32});
  read(first, first + 86);
  drop();
  rank->home.take_gets();
  read(first, first + 1);
  expect_gets({pages(first, 32)});
  read(first + 85, first + 86);
  expect_gets({pages(first + 85, 1)});
  read(first + 32, first + 85);
  expect_gets({pages(first + 32, 32), pages(first + 64, 21)});
}

TEST_P(CacheTest, AFaultFetchesNoMoreThanTheShareOfTheCache) {
  make({.limit_pages = 64, .readahead_pages = 32});
  EXPECT_EQ(2u, cache().copies.config().most_at_once());
  read(first, first + 8);
  for (const FakeHome::Piece& get : rank->home.take_gets()) EXPECT_LE(get.bytes, 2 * page_bytes);
}

TEST_P(CacheTest, ThreadsThatFaultOnOnePageFetchItOnce) {
  make();
  std::vector<std::thread> threads;
  rank->home.held = network();
  for (int t = 0; t < 3; ++t) threads.emplace_back([this] { EXPECT_EQ(initial(first + 7), rank->at(first + 7)); });
  while (network() && rank->home.awaiting == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // for the others
  rank->home.held = false;
  for (std::thread& thread : threads) thread.join();
  expect_gets({pages(first + 7, 1)});
  EXPECT_EQ(1u, cache().copies.resident());
}

TEST_P(CacheTest, TheHomeLearnsOnceWhoHasACopy) {
  make({.readahead_pages = 8});
  const Layout layout = CacheRank::layout();
  const auto registrations = [&](int home) {
    return *reinterpret_cast<uint64_t*>(rank->home.memory() + layout.registrations(home));
  };
  const auto is_known = [&](uint64_t page, int home) {
    return rank->home.memory()[layout.directory(home) + page] != 0;
  };
  read(first, first + 5);
  EXPECT_EQ(2u, registrations(1));
  const auto* const entry = reinterpret_cast<uint64_t*>(rank->home.memory() + layout.registration_slot(1, 1));
  EXPECT_EQ(Notice::make(first + 1, 4).word, *entry);
  for (uint64_t p = first; p < first + 7; ++p) EXPECT_EQ(p < first + 5, is_known(p, 1)) << "page " << p - first;
  drop();
  read(first, first + 2);
  EXPECT_EQ(2u, registrations(1)) << "it knows already";
  preload(first + 3, first + 9);
  EXPECT_EQ(3u, registrations(1));
  EXPECT_TRUE(is_known(first + 8, 1));
  for (const uint64_t p : {first + 60, first + 59}) read(p, p + 1);
  EXPECT_EQ(5u, registrations(1));
  EXPECT_TRUE(is_known(first + 59, 1) && is_known(first + 60, 1));
  EXPECT_EQ(0u, registrations(2));
  read(end - 1, end);
  EXPECT_EQ(1u, registrations(2));
  EXPECT_TRUE(is_known(end - 1, 2));
}

// ---- preloads -------------------------------------------------------------------------------------------------------

TEST_P(CacheTest, APreloadBringsRunsOfEachHome) {
  make();
  EXPECT_EQ(network(), cache().fetches.start_preload(*array, first, end));
  EXPECT_EQ(network() ? 3u : 0u, rank->home.pending());
  expect_gets({pages(first, 100), pages(first + 150, 128), pages(first + 278, 22)});
  cache().fetches.finish();
  EXPECT_EQ(250u, array->counters.preloaded.load());
  EXPECT_EQ(250u, cache().copies.resident());
  rank->home.take_gets();
  read(first, first + 100);
  read(first + 150, end);
  EXPECT_EQ(0u, faults());
  expect_gets({});
  EXPECT_FALSE(cache().fetches.start_preload(*array, first, end)) << "all is here";
  expect_gets({});
}

TEST_P(CacheTest, APreloadBringsNothingOutsideItsRange) {
  make();
  read(first + 12, first + 13);
  rank->home.take_gets();
  preload(first + 10, first + 20);
  expect_gets({pages(first + 10, 2), pages(first + 13, 7)});
  for (uint64_t p = first; p < end; ++p)
    EXPECT_EQ(p >= first + 10 && p < first + 20, is_state(p, PageState::valid)) << "page " << p - first;
}

TEST_P(CacheTest, AnAccessWaitsForItsRunOnly) {
  if (!network()) GTEST_SKIP() << "memory is there at once";
  make();
  cache().fetches.start_preload(*array, first, first + 10);
  cache().fetches.start_preload(*array, first + 20, first + 30);
  cache().fetches.start_preload(*array, first + 160, first + 170);
  ASSERT_EQ(3u, rank->home.pending());
  EXPECT_EQ(initial(first + 25), rank->at(first + 25));
  EXPECT_EQ(2u, rank->home.pending());
  cache().fetches.finish(first + 10, first + 160);
  EXPECT_EQ(2u, rank->home.pending()) << "none of the others has these pages";
  cache().fetches.finish(first + 169, first + 170);
  EXPECT_EQ(1u, rank->home.pending());
  EXPECT_TRUE(is_state(first, PageState::busy));
  EXPECT_TRUE(is_state(first + 169, PageState::valid));
  cache().fetches.finish();
  EXPECT_EQ(0u, rank->home.pending());
  EXPECT_EQ(30u, array->counters.fetched.load());
  read(first, first + 10);
}

TEST_P(CacheTest, MorePreloadsThanCanBeUnderWay) {
  make();
  for (uint64_t p = first; p < first + 40; p += 2) cache().fetches.start_preload(*array, p, p + 1);
  EXPECT_LE(rank->home.pending(), 8u);
  cache().fetches.finish();
  EXPECT_EQ(0u, rank->home.pending());
  for (uint64_t p = first; p < first + 40; ++p)
    EXPECT_EQ(p % 2 == 0, is_state(p, PageState::valid)) << "page " << p - first;
  read(first, first + 40);
}

TEST_P(CacheTest, APreloadLeavesAQuarterOfTheCacheToOthers) {
  make({.limit_pages = 64});
  preload(first, end);
  EXPECT_EQ(48u, cache().copies.resident());
  EXPECT_TRUE(is_state(first + 47, PageState::valid));
  EXPECT_TRUE(is_state(first + 48, PageState::absent));
}

// ---- writes ---------------------------------------------------------------------------------------------------------

TEST_P(CacheTest, ExactlyTheChangedBytesGoHome) {
  for (const bool alone : {true, false}) {
    make();
    read(first, first + 10);
    rank->at(first + 2, 5) = 'x';
    for (uint64_t b = 96; b < 200; ++b) rank->at(first + 2, b) = 'y';
    rank->at(first + 4, page_bytes - 1) = 'z';
    rank->at(first + 6) = initial(first + 6);  // written, but not changed
    rank->home_at(first + 2, 4) = rank->home_at(first + 2, 6) = 'h';
    rank->home_at(first + 4, page_bytes - 2) = 'h';
    cache().writeback.flush(alone);
    EXPECT_EQ(1u + 104 + 1, rank->home.bytes_put());
    EXPECT_EQ('x', rank->home_at(first + 2, 5));
    EXPECT_EQ('h', rank->home_at(first + 2, 4));
    EXPECT_EQ('h', rank->home_at(first + 2, 6));
    EXPECT_EQ('y', rank->home_at(first + 2, 96));
    EXPECT_EQ('y', rank->home_at(first + 2, 199));
    EXPECT_EQ('z', rank->home_at(first + 4, page_bytes - 1));
    EXPECT_EQ('h', rank->home_at(first + 4, page_bytes - 2));
    EXPECT_EQ((Pages{first + 2, first + 4}), rank->noted());
    EXPECT_EQ(!alone, rank->home.fences > 0);
    EXPECT_EQ(2u, array->counters.notices.load());
    EXPECT_EQ('x', rank->at(first + 2, 5)) << "it stays";
    EXPECT_EQ(10u, faults());
  }
}

TEST_P(CacheTest, EachFlushSendsWhatIsNew) {
  make();
  read(first, first + 4);
  for (int round = 0; round < 6; ++round) {
    const uint64_t puts = rank->home.puts.size();
    if (round % 3 != 2) rank->at(first + 1, 40) = static_cast<char>('a' + round);
    cache().writeback.flush(round % 2 == 0);
    EXPECT_EQ(puts + (round % 3 != 2), rank->home.puts.size()) << "round " << round;
    EXPECT_EQ(rank->at(first + 1, 40), rank->home_at(first + 1, 40));
  }
  EXPECT_EQ(initial(first + 1), rank->at(first + 1, 41));
}

TEST_P(CacheTest, DifferencesGoToTheHomesOfTheirPages) {
  make();
  for (const uint64_t p : {first + 98, first + 99, first + 150, first + 151, end - 1}) rank->at(p) = 'w';
  cache().writeback.flush(true);
  ASSERT_EQ(5u, rank->home.puts.size());
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(array->home(rank->home.puts[i].offset >> page_shift).rank, rank->home.put_ranks[i]);
  EXPECT_EQ(2, rank->home.packed) << "one message for each home";
}

TEST_P(CacheTest, ManyWholePagesInARowGoAsTheyAre) {
  make();
  read(first, first + 60);
  const auto fill = [&](uint64_t from, uint64_t to) {
    for (uint64_t p = from; p < to; ++p)
      for (uint64_t b = 0; b < page_bytes; ++b) rank->at(p, b) = static_cast<char>(rank->at(p, b) + 1);
  };
  fill(first, first + 16);
  fill(first + 20, first + 35);
  rank->at(first + 40) = 'x';
  cache().writeback.flush(true);
  EXPECT_EQ(31 * page_bytes + 1, rank->home.bytes_put());
  for (uint64_t p = first; p < first + 60; ++p)
    for (const uint64_t b : {uint64_t{0}, page_bytes - 1}) ASSERT_EQ(rank->at(p, b), rank->home_at(p, b));
  std::vector<FakeHome::Piece> large;
  for (const FakeHome::Piece& put : rank->home.puts)
    if (put.bytes > page_bytes) large.push_back(put);
  EXPECT_EQ(Pieces{pages(first, 16)}, large);
}

TEST_P(CacheTest, WritesAreSentBeforeAPageIsDropped) {
  for (const bool alone : {true, false}) {
    make();
    read(first, first + 8);
    rank->at(first + 3, 9) = 'x';
    cache().writeback.flush_and_drop(alone);
    EXPECT_EQ('x', rank->home_at(first + 3, 9));
    EXPECT_EQ(1u, rank->home.bytes_put());
    EXPECT_EQ(!alone, rank->home.fences > 0) << "else it could fetch its own write away";
    EXPECT_EQ(8u, array->counters.invalidated.load());
    others_write(first, first + 8, 'n');
    read(first, first + 8);
    EXPECT_EQ('x', rank->at(first + 3, 9));
    cache().writeback.flush(true);
    EXPECT_EQ(1u, rank->home.bytes_put()) << "nothing is written twice";
  }
}

// ---- acquire --------------------------------------------------------------------------------------------------------

TEST_P(CacheTest, NoticesDropExactlyTheirPages) {
  make();
  read(first, first + 10);
  rank->at(first + 5, 1) = 'w';
  cache().writeback.flush(true);
  others_write(first, first + 10, 'n');
  rank->home.take_gets();
  cache().writeback.invalidate(first + 2, 3);
  for (uint64_t p = first; p < first + 10; ++p) {
    const bool dropped = p >= first + 2 && p < first + 5;
    EXPECT_EQ(dropped, is_state(p, PageState::stale)) << "page " << p - first;
    EXPECT_EQ(dropped ? 'n' : initial(p), rank->at(p)) << "page " << p - first;
  }
  EXPECT_EQ(3u, array->counters.invalidated.load());
  EXPECT_EQ('w', rank->at(first + 5, 1));
}

TEST_P(CacheTest, NoticesOfSeveralArraysAndOfNone) {
  make();
  rank->add(end, {{20, 1}});
  std::memset(&rank->home_at(end), 'o', 20 * page_bytes);
  EXPECT_EQ('o', rank->at(end));
  read(end - 1, end);
  cache().writeback.invalidate(end + 30, 5);
  cache().writeback.invalidate(end - 1, 2);
  EXPECT_TRUE(is_state(end - 1, PageState::stale));
  EXPECT_TRUE(is_state(end, PageState::stale));
}

TEST_P(CacheTest, ADropOfOnePageLeavesItsNeighbours) {
  make();
  read(first, first + 3);
  rank->at(first + 1, 8) = 'x';
  rank->at(first + 2, 8) = 'x';
  cache().writeback.flush_and_drop(*array, first + 1);
  EXPECT_EQ('x', rank->home_at(first + 1, 8));
  EXPECT_NE('x', rank->home_at(first + 2, 8));
  EXPECT_TRUE(is_state(first, PageState::valid));
  EXPECT_TRUE(is_state(first + 1, PageState::stale));
  EXPECT_TRUE(is_state(first + 2, PageState::valid));
}

TEST_P(CacheTest, PagesOfAnArrayThatIsPreloadedStayAndAreRefreshedInPlace) {
  make();
  array->preloaded = true;
  for (int round = 0; round < 4; ++round) {
    preload(first, first + 20);
    read(first, first + 20);
    rank->at(first + 4, 3) = static_cast<char>('a' + round);  // a private copy from then on
    drop();
    EXPECT_EQ('a' + round, rank->home_at(first + 4, 3));
    for (uint64_t p = first; p < first + 20; ++p) {
      EXPECT_TRUE(is_state(p, PageState::stale));
      EXPECT_TRUE(rank->states.flag(p, PageStates::in_view));
    }
    others_write(first, first + 20, static_cast<char>('A' + round));
    EXPECT_EQ(round == 0 ? initial(first + 4) : 'A' + round - 1, rank->at(first + 4))
        << "the old value, without a fault";
  }
  EXPECT_EQ(0u, faults());
  EXPECT_EQ(4u * 20, array->counters.fetched.load());
  preload(first, first + 20);
  for (uint64_t p = first; p < first + 20; ++p) EXPECT_FALSE(rank->states.flag(p, PageStates::in_view));
  read(first, first + 20);
}

TEST_P(CacheTest, WithoutAPromiseOrUnderCheckNothingStays) {
  for (const bool in_place : {true, false}) {
    make({.in_place = in_place});
    array->preloaded = !in_place;
    read(first, first + 4);
    drop();
    others_write(first, first + 4, 'n');
    EXPECT_FALSE(rank->states.flag(first, PageStates::in_view));
    EXPECT_EQ('n', rank->at(first));
  }
}

TEST_P(CacheTest, StaleCopiesStayInViewUntilTheNextDropOfAll) {
  make();
  preload(first, first + 10);
  cache().writeback.mark_stale();
  others_write(first, first + 10, 'n');
  EXPECT_EQ(initial(first + 1), rank->at(first + 1));
  preload(first, first + 5);
  read(first, first + 5);
  EXPECT_EQ(initial(first + 7), rank->at(first + 7));
  EXPECT_EQ(0u, faults());
  drop();
  EXPECT_EQ('n', rank->at(first + 7)) << "the drop has taken it out of the view";
  EXPECT_GT(faults(), 0u);
}

TEST_P(CacheTest, WhatAPreloadHasNoRoomForLeavesTheView) {
  make({.limit_pages = 64});
  preload(first, first + 30);
  preload(first + 30, first + 60);
  cache().writeback.mark_stale();
  others_write(first, first + 60, 'n');
  preload(first, first + 60);
  read(first, first + 60);
  EXPECT_GT(faults(), 0u);
}

// ---- a full cache ---------------------------------------------------------------------------------------------------

TEST_P(CacheTest, WhatCameFirstGoesFirst) {
  make({.limit_pages = 64});
  read(first, first + 64);
  EXPECT_EQ(0u, array->counters.evicted.load());
  read(first + 64, first + 65);
  EXPECT_EQ(8u, array->counters.evicted.load());
  EXPECT_EQ(57u, cache().copies.resident());
  EXPECT_EQ(57u, array->counters.cached.load());
  for (uint64_t p = first; p < first + 65; ++p)
    EXPECT_EQ(p < first + 8 ? PageState::absent : PageState::valid, rank->states.state(p)) << "page " << p - first;
  read(first, first + 100);
  read(first + 150, end);
  EXPECT_LE(cache().copies.resident(), 64u);
}

TEST_P(CacheTest, MappingsAreGivenBackForNewPagesAndByAFullCache) {
  make({.limit_pages = 64});
  const auto released = [&] { return std::exchange(rank->home.released, {}); };
  preload(first, first + 2);
  EXPECT_EQ(Pieces{pages(first, 2)}, released());
  rank->at(first) = 'w';
  cache().writeback.flush(true);
  cache().writeback.invalidate(first, 2);
  preload(first, first + 2);
  EXPECT_EQ(Pieces{}, released()) << "fetched again";
  read(first + 2, first + 64);
  released();
  read(first + 64, first + 65);
  EXPECT_EQ((Pieces{pages(first, 300), pages(first, 8), pages(first + 64, 1)}), released()) << "all, at the first time";
  rank->at(first + 10) = 'w';
  cache().writeback.flush(true);
  EXPECT_EQ(1u, released().size());
  cache().writeback.flush_and_drop(*array, first + 12);
  EXPECT_EQ(1u, released().size());
  preload(first + 12, first + 13);
  EXPECT_EQ(Pieces{pages(first + 12, 1)}, released());
}

TEST_P(CacheTest, WritesOfPagesThatGoAreSentHome) {
  make({.limit_pages = 64});
  for (int round = 1; round <= 3; ++round)
    for (uint64_t p = first; p < first + 100; ++p)
      rank->at(p, static_cast<uint64_t>(round)) = static_cast<char>(p + 90);
  EXPECT_GT(array->counters.evicted.load(), 200u);
  EXPECT_GT(rank->home.fences.load(), 0);
  cache().writeback.flush(true);
  for (uint64_t p = first; p < first + 100; ++p)
    for (uint64_t b = 0; b < 6; ++b)
      ASSERT_EQ(b >= 1 && b <= 3 ? static_cast<char>(p + 90) : initial(p), rank->home_at(p, b))
          << p - first << ", " << b;
  EXPECT_EQ(300u, rank->home.bytes_put());
  const Pages noted = rank->noted();
  for (uint64_t p = first; p < first + 100; ++p)
    EXPECT_EQ(1, std::min<long>(1, std::count(noted.begin(), noted.end(), p)));
}

TEST_P(CacheTest, EvictedStaleCopiesLeaveTheView) {
  make({.limit_pages = 64});
  array->preloaded = true;
  preload(first, first + 40);
  rank->at(first + 1, 1) = 'w';
  drop();
  others_write(first, first + 40, 'n');
  for (uint64_t p = first + 150; p < end; ++p) EXPECT_EQ(initial(p), rank->at(p));
  for (uint64_t p = first; p < first + 40; ++p) EXPECT_TRUE(is_state(p, PageState::absent)) << "page " << p - first;
  read(first, first + 40);
  EXPECT_EQ('w', rank->at(first + 1, 1));
  EXPECT_LE(cache().copies.resident(), 64u);
}

// Each thread writes a byte of its own of each page, and reads another; the cache holds a quarter of them.
TEST_P(CacheTest, ThreadsThatShareAFullCacheLoseNoWrite) {
  make({.limit_pages = 64, .readahead_pages = 4});
  constexpr int threads = 3, rounds = 400;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([this, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<char> last(300, 0);
      const auto byte = static_cast<uint64_t>(t) * 9 + 1;
      for (int round = 0; round < rounds; ++round) {
        const uint64_t i = random() % 2 == 0 ? random() % 100 : 150 + random() % 150;
        if (last[i] != 0) {
          ASSERT_EQ(last[i], rank->at(first + i, byte)) << "thread " << t << ", page " << i;
        }
        rank->at(first + i, byte) = last[i] = static_cast<char>(1 + random() % 100);
        ASSERT_EQ(initial(first + i), rank->at(first + i, 100));
        if (t == 0 && round % 16 == 0) cache().writeback.flush(false);
        if (t == 1 && round % 32 == 0) cache().writeback.flush_and_drop(false);
      }
      for (uint64_t i = 0; i < 300; ++i) {
        if (last[i] != 0) {
          ASSERT_EQ(last[i], rank->at(first + i, byte)) << "thread " << t << ", page " << i;
        }
      }
    });
  for (std::thread& thread : running) thread.join();
  cache().writeback.flush_and_drop(true);
  EXPECT_LE(cache().copies.resident(), 64u + threads * cache().copies.config().most_at_once());
  EXPECT_EQ(cache().copies.resident(), array->counters.cached.load());
  read(first, first + 100);
}

INSTANTIATE_CACHE_TESTS(CacheTest);

}  // namespace
}  // namespace hiroba
