// Closed pages: who touches one gets it, and samples are counted, on a machine of two NUMA domains that a stand-in
// plays. Ranks are objects with views of their own of one memory file; accesses that would fault are calls of open().
#include "memory/numa/touches.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "base/addresses.hpp"
#include "numa_machine.hpp"

namespace hiroba {
namespace {

thread_local int here = 0;

constexpr uint64_t pages = 24;

// One of two ranks. Each owns half of the array.
class TouchesRank {
 public:
  TouchesRank(NumaMachine& machine, std::atomic<uint8_t>* claims, bool huge = false, uint64_t size = pages) {
    base_ = static_cast<char*>(mmap(nullptr, size << page_shift, PROT_READ | PROT_WRITE, MAP_SHARED, machine.fd, 0));
    auto owned = std::make_unique<Array>();
    owned->end_page = size, owned->data = base_;
    owned->homes = {{0, size / 2, 0}, {size / 2, size - size / 2, 1}};
    array = owned.get();
    table_.insert(std::move(owned));
    // The stand-in knows pages by the addresses of its own mapping.
    domains_.start({&machine, machine.domains, machine.fd, machine.base, huge});
    Touches::Config config;
    config.arrays = &table_, config.pages = &domains_, config.base = base_, config.claims = claims;
    config.end_rank = 2, config.huge = huge, config.here = [] { return here; };
    touches.start(config);
  }
  ~TouchesRank() { munmap(base_, pages << page_shift); }
  TouchesRank(const TouchesRank&) = delete;

  // Whether the page can be read without a fault: what the kernel would say to a system call.
  bool is_open(uint64_t page) const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const bool open = write(ends[1], base_ + (page << page_shift), 1) == 1;
    close(ends[0]), close(ends[1]);
    return open;
  }
  uint64_t count_open() const {
    uint64_t open = 0;
    for (uint64_t p = 0; p < pages; ++p) open += is_open(p) ? 1 : 0;
    return open;
  }

  Array* array = nullptr;
  Touches touches;

 private:
  char* base_ = nullptr;
  ArrayTable table_;
  PageDomains domains_;
};

struct TwoRanks {
  NumaMachine machine{{0, 1}, pages};
  std::atomic<uint8_t> claims[pages] = {};
  TouchesRank a{machine, claims}, b{machine, claims};
  TwoRanks() { std::memset(machine.base, 1, pages << page_shift); }
  void next_touch() {
    a.touches.claim_all(*a.array);
    a.touches.close_for_next_touch(*a.array), b.touches.close_for_next_touch(*b.array);
  }
};

TEST(Touches, TheNextToTouchGetsThePage) {
  TwoRanks two;
  EXPECT_FALSE(two.a.touches.open(*two.a.array, 0));
  EXPECT_FALSE(two.a.touches.used());
  two.next_touch();
  EXPECT_EQ(two.a.count_open() + two.b.count_open(), 0U);
  here = 1;
  EXPECT_TRUE(two.a.touches.open(*two.a.array, 5));  // on domain 1
  EXPECT_EQ(two.machine.where[5], 1);
  EXPECT_TRUE(two.a.is_open(5));
  EXPECT_FALSE(two.b.is_open(5));
  here = 0;
  EXPECT_TRUE(two.b.touches.open(*two.b.array, 5));  // later: it stays
  EXPECT_EQ(two.machine.where[5], 1);
  EXPECT_TRUE(two.b.is_open(5));
  here = 1;
  EXPECT_TRUE(two.b.touches.open(*two.b.array, 20));
  EXPECT_EQ(two.machine.moves, (std::vector<NumaMachine::Move>{{5, 1, 1}, {20, 1, 1}}));
  EXPECT_EQ(two.a.count_open(), 1U);
  // And once more for the next touch.
  here = 0;
  two.next_touch();
  EXPECT_TRUE(two.b.touches.open(*two.b.array, 5));
  EXPECT_EQ(two.machine.where[5], 0);
}

TEST(Touches, OneOfManyThreadsMovesIt) {
  TwoRanks two;
  two.next_touch();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&two, t] {
      here = 1;
      TouchesRank& rank = t % 2 == 0 ? two.a : two.b;
      for (uint64_t p = 0; p < pages; ++p) EXPECT_TRUE(rank.touches.open(*rank.array, p));
    });
  for (std::thread& thread : threads) thread.join();
  uint64_t moved = 0;
  for (const NumaMachine::Move& move : two.machine.moves) moved += move.pages;
  EXPECT_EQ(moved, pages);
  EXPECT_EQ(two.a.count_open(), pages);
  EXPECT_EQ(two.b.count_open(), pages);
}

TEST(Touches, HugePagesMoveAsAWhole) {
  constexpr uint64_t huge = huge_page_bytes / page_bytes, size = 2 * huge + 100;
  NumaMachine machine({0, 1}, size);
  std::memset(machine.base, 1, size << page_shift);
  const auto claims = std::make_unique<std::atomic<uint8_t>[]>(size);
  TouchesRank rank(machine, claims.get(), true, size);
  rank.touches.claim_all(*rank.array);
  rank.touches.close_for_next_touch(*rank.array);
  here = 1;
  EXPECT_TRUE(rank.touches.open(*rank.array, huge + 77));
  for (uint64_t p = 0; p < size; ++p) EXPECT_EQ(machine.where[p], p >= huge && p < 2 * huge ? 1 : 0) << p;
}

TEST(Touches, SamplesAreCountedByDomain) {
  TwoRanks two;
  Touches& touches = two.a.touches;
  touches.sample(*two.a.array, true);
  EXPECT_EQ(two.a.count_open(), pages);  // until a barrier
  for (int epoch = 0; epoch < 3; ++epoch) {
    touches.at_barrier();
    EXPECT_EQ(two.a.count_open(), 0U);
    here = epoch == 2 ? 0 : 1;
    EXPECT_TRUE(touches.open(*two.a.array, 7));
    EXPECT_TRUE(touches.open(*two.a.array, 7));  // a second thread, too late to count
    here = 0;
    EXPECT_TRUE(touches.open(*two.a.array, 8));
    EXPECT_EQ(two.a.count_open(), 2U);
  }
  EXPECT_EQ(two.b.count_open(), pages);
  EXPECT_TRUE(two.machine.moves.empty());
  const std::vector<uint16_t> counts = touches.take_counts(*two.a.array);
  ASSERT_EQ(counts.size(), 2 * pages);
  for (uint64_t p = 0; p < pages; ++p) {
    EXPECT_EQ(counts[2 * p], p == 7 ? 1 : p == 8 ? 3 : 0) << p;
    EXPECT_EQ(counts[2 * p + 1], p == 7 ? 2 : 0) << p;
  }
  EXPECT_EQ(touches.take_counts(*two.a.array), std::vector<uint16_t>(2 * pages));
  touches.sample(*two.a.array, false);
  EXPECT_EQ(two.a.count_open(), pages);
  touches.at_barrier();
  EXPECT_EQ(two.a.count_open(), pages);
}

TEST(Touches, OnlySomeUnitsAreSampledAtATime) {
  constexpr uint64_t size = 150;
  NumaMachine machine({0, 1}, size);
  const auto claims = std::make_unique<std::atomic<uint8_t>[]>(size);
  TouchesRank rank(machine, claims.get(), false, size);
  rank.touches.sample(*rank.array, true);
  for (const uint64_t closed : {64U, 128U, 150U, 150U}) {
    rank.touches.at_barrier();
    uint64_t now = 0;
    for (uint64_t p = 0; p < size; ++p) now += rank.array->touches->closed[p].load() != ArrayTouches::open ? 1 : 0;
    EXPECT_EQ(now, closed);
  }
}

}  // namespace
}  // namespace hiroba
