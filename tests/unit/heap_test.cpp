// The parts of the heap, in one process: ranks of a job whose memory is one file.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "memory/heap/arenas.hpp"
#include "memory/heap/checker.hpp"
#include "memory/heap/objects.hpp"
#include "memory/heap/packs.hpp"
#include "memory/heap/returns.hpp"
#include "memory/heap/sites.hpp"
#include "memory/heap/space.hpp"
#include "memory/heap/thread_cache.hpp"
#include "one_memory.hpp"

namespace hiroba {
namespace {

constexpr uint64_t MiB = uint64_t{1} << 20, limit = 8 * MiB;

Layout layout() {
  Layout out;
  out.space = 256 * MiB, out.heap_bytes = 64 * MiB, out.nranks = 2;
  return out;
}

struct Rank {
  Rank(int rank, OneMemory& memory) {
    job.nranks = 2, job.place_evenly(), job.rank = rank;
    const Status started = space.start({layout(), job, memory.memory(), &memory, limit});
    EXPECT_TRUE(started.ok()) << started.message();
    returns.start({layout(), job, memory.memory(), &memory, [this](auto objects) { published += objects.size(); }});
    sites.start(layout(), job, memory.memory(), &memory);
  }
  Job job;
  HeapSpace space;
  HeapReturns returns;
  HeapSites sites;
  size_t published = 0;
};

class HeapRanks : public testing::Test {
 protected:
  OneMemory memory{layout().extent()};
  Rank a{0, memory}, b{1, memory};
};

TEST_F(HeapRanks, SizesFitAByteAndAreTheAllocators) {
  static HeapArenas arenas;  // jemalloc keeps the addresses of its hooks for good
  static std::vector<std::unique_ptr<char[]>> memory;
  static const auto take = [](int, uint64_t bytes, uint64_t) -> void* {
    memory.push_back(std::make_unique<char[]>(bytes + 2 * MiB));
    char* const at = memory.back().get();
    return at + -reinterpret_cast<uintptr_t>(at) % (2 * MiB);
  };
  arenas.start(0, 2, {take, [](void*, uint64_t) {}});
  std::set<uint64_t> seen;
  for (size_t bytes = 1; bytes < 100000; ++bytes) {
    const uint64_t size = HeapArenas::rounded(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_EQ(size, HeapSpace::size_of(HeapSpace::class_of(size))) << bytes;
    if (!seen.insert(size).second) continue;
    for (const int home : {0, 1}) {
      void* const object = arenas.allocate(home, bytes, 1, false);
      ASSERT_EQ(size, HeapArenas::size(object)) << bytes;
      arenas.free(home, object);
    }
  }
  EXPECT_EQ(uint64_t{1} << 41, HeapSpace::size_of(HeapSpace::class_of(uint64_t{1} << 41)));
}

TEST_F(HeapRanks, ChunksHaveOneOwnerWhichAllRanksLearn) {
  char* const first = a.space.take(0, 100, 1);
  char* const second = b.space.take(0, 3 * MiB, 1);
  char* const there = a.space.take(1, 1, 4 * MiB);
  ASSERT_TRUE(first != nullptr && second != nullptr && there != nullptr);
  EXPECT_EQ(0u, (a.space.position(there) - 64 * MiB) % (4 * MiB));
  for (Rank* const rank : {&a, &b}) {
    EXPECT_EQ(0, rank->space.owner(rank->space.position(first)));
    EXPECT_EQ(1, rank->space.owner(rank->space.position(second)));
    EXPECT_EQ(1, rank->space.owner(rank->space.position(second + 3 * MiB - 1)));
    EXPECT_EQ(0, rank->space.owner(rank->space.position(there)));
    EXPECT_EQ(1, rank->space.home(rank->space.position(there)));
    EXPECT_EQ(-1, rank->space.owner(rank->space.position(second) + 4 * MiB)) << "that nobody has taken";
  }
  EXPECT_EQ((std::vector<uint64_t>{2 * MiB, 4 * MiB}), a.space.taken(0));
  EXPECT_EQ(nullptr, a.space.take(0, 4 * MiB, 1)) << "beyond the limit";
  EXPECT_NE(nullptr, a.space.take(0, 2 * MiB, 1));
  EXPECT_GE(a.space.position(&memory), a.space.bytes()) << "private memory is not of the heap";
}

TEST_F(HeapRanks, SizesOfAPageAreFoundByAll) {
  const uint64_t position = a.space.position(a.space.take(1, 100, 1));
  EXPECT_EQ(0u, b.space.size(position));
  a.space.set_size(position, 48);
  EXPECT_EQ(48u, b.space.size(position));
  a.space.set_size(position + 4 * page_bytes, 5 << 20);
  EXPECT_EQ(uint64_t{5} << 20, b.space.size(position + 4 * page_bytes));
}

TEST_F(HeapRanks, FreedObjectsComeBackInBatchesAndInOrder) {
  const auto object = [](uint64_t n) { return FreedObject{n * 16, 1, static_cast<uint32_t>(n)}; };
  for (uint64_t n = 1; n < HeapReturns::batch; ++n) b.returns.add(0, object(n));
  EXPECT_FALSE(a.returns.any()) << "less than a batch, and young";
  b.returns.add(0, object(HeapReturns::batch));
  EXPECT_TRUE(a.returns.any());
  EXPECT_EQ(HeapReturns::batch, b.published) << "what b has written to them goes first";
  std::vector<FreedObject> got;
  a.returns.take(got);
  ASSERT_EQ(HeapReturns::batch, got.size());
  for (uint64_t n = 1; n <= got.size(); ++n)
    EXPECT_TRUE(got[n - 1].position == n * 16 && got[n - 1].rank == 1 && got[n - 1].site == n);
  EXPECT_FALSE(a.returns.any());
  b.returns.add(0, object(7));
  b.returns.send_all();
  a.returns.take(got);
  EXPECT_EQ(HeapReturns::batch + 1, got.size());
  EXPECT_EQ(2u, b.returns.counts().batches.load());
}

// What has no room stays where it was freed, and comes when there is room; nothing is lost or comes twice, also when
// the words of the ring are used again.
TEST_F(HeapRanks, AFullRingLosesNothing) {
  constexpr uint64_t many = 3 * HeapReturns::slots + 5;
  for (uint64_t n = 1; n <= many; ++n) b.returns.add(0, {n, 1, 0});
  std::vector<FreedObject> got;
  for (int turn = 0; turn < 10; ++turn) {
    a.returns.take(got);
    ASSERT_LE(got.size(), static_cast<size_t>(turn + 1) * HeapReturns::slots);
    b.returns.send_all();
  }
  ASSERT_EQ(many, got.size());
  for (uint64_t n = 1; n <= many; ++n) ASSERT_EQ(n, got[n - 1].position);
}

TEST_F(HeapRanks, PlacesAreNamedByAllRanksWithWhatTheyHold) {
  const uint32_t one = a.sites.number("list.c:1"), long_name = a.sites.number(std::string(300, 'x') + "/tree.c:22");
  EXPECT_EQ(one, a.sites.number("list.c:1"));
  a.sites.add(one, 100, 2), a.sites.add(one, -40, -1), a.sites.add(long_name, 500, 1);
  EXPECT_EQ("list.c:1", b.sites.name(0, one));
  const std::vector<HeapSites::Holding> found = b.sites.holdings(0, 2);
  ASSERT_EQ(2u, found.size()) << "places that hold nothing are left out";
  EXPECT_NE(std::string::npos, found[0].place.find("/tree.c:22"));
  EXPECT_TRUE(found[1].rank == 0 && found[1].bytes == 60 && found[1].objects == 1);
  for (uint32_t n = 0; n < HeapSites::most + 10; ++n) a.sites.number("a.c:" + std::to_string(n));
  EXPECT_EQ(0u, a.sites.number("one too many")) << "counts as a place without a name";
}

TEST(HeapNotes, AreOfOneObjectAndFoundByItsPage) {
  HeapObjects objects;
  ASSERT_TRUE(objects.start(MiB).ok());
  EXPECT_FALSE(objects.may_have(page_bytes));
  objects.add(page_bytes + 16, {24, 24, 3});
  EXPECT_TRUE(objects.may_have(page_bytes));
  EXPECT_FALSE(objects.find(page_bytes));
  EXPECT_EQ(3u, objects.find(page_bytes + 16)->site);
  EXPECT_EQ(24u, objects.take(page_bytes + 16)->bytes);
  EXPECT_FALSE(objects.take(page_bytes + 16)) << "taken twice";
}

// A page of another node is fetched for all objects on it at once.
TEST_F(HeapRanks, PagesOfFreedObjectsAreReadOnce) {
  constexpr uint64_t room = 64, objects = 200;
  const uint64_t begin = b.space.position(b.space.take(1, objects * room, 1));
  HeapObjects notes;
  ASSERT_TRUE(notes.start(b.space.bytes()).ok());
  std::vector<uint64_t> refreshed, given_up;
  HeapChecker checker({&b.space, &b.sites, &notes, 1, nullptr,
                       [&](uint64_t position, uint64_t) { refreshed.push_back(position); },
                       [](uint64_t) { return room; }, [&](uint64_t position) { given_up.push_back(position); }});
  const uint32_t place = b.sites.number("list.c:1");
  for (uint64_t i = 0; i < objects; ++i) checker.allocated(begin + i * room, 40, "list.c:1");
  const uint64_t before = memory.gets();
  for (uint64_t i = 0; i < objects; ++i) ASSERT_TRUE(checker.freed({begin + i * room, 0, place}).ok());
  EXPECT_EQ(before, memory.gets()) << "a name is read for a message only";
  ASSERT_TRUE(checker.give_up(0).ok());
  EXPECT_EQ(objects, given_up.size());
  EXPECT_EQ((objects * room + page_bytes - 1) / page_bytes, refreshed.size());
}

// Hands out objects of a range from its begin on, one page for each size, and notes what comes back.
class ThreadCache : public testing::Test {
 protected:
  static constexpr uint64_t bytes = 16 * MiB;
  void SetUp() override { start(int64_t{1} << 40); }
  void TearDown() override { munmap(range, bytes); }

  void start(int64_t sample) {
    const auto allocate = [this](size_t size) -> void* {
      if (left == 0) return nullptr;
      --left;
      const uint64_t rounded = HeapArenas::rounded(size), number = HeapSpace::class_of(rounded);
      const uint64_t position = number * 64 * page_bytes + rounded * fetched[number]++;
      caches->set_size(position, rounded);
      return range + position;
    };
    caches = std::make_unique<HeapThreadCaches>();
    ASSERT_TRUE(caches->start({range, bytes, allocate, [this](void* object) { back.insert(object); }, sample}).ok());
  }
  // As the heap does it.
  void* get(size_t size) {
    void* const kept = HeapThreadCache::allocate(size);
    return kept != nullptr ? kept : caches->take(size);
  }
  void put(void* object) {
    const bool kept = HeapThreadCache::free(object) || caches->put(object);
    ASSERT_TRUE(kept);
  }

  char* const range = static_cast<char*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  uint64_t left = 1 << 20, fetched[64] = {};
  std::multiset<void*> back;
  std::unique_ptr<HeapThreadCaches> caches;
};

TEST_F(ThreadCache, GivesBackWhatWasFreedLast) {
  EXPECT_EQ(nullptr, HeapThreadCache::allocate(40)) << "nothing has been fetched";
  void* const object = get(40);
  put(object);
  EXPECT_EQ(object, HeapThreadCache::allocate(33)) << "rounded up to the same size";
  EXPECT_NE(object, get(40));
  EXPECT_EQ(nullptr, HeapThreadCache::allocate(0));
  EXPECT_EQ(nullptr, HeapThreadCache::allocate(HeapThreadCache::largest + 1));
  EXPECT_EQ(nullptr, HeapThreadCache::allocate(static_cast<size_t>(-1)));
}

TEST_F(ThreadCache, KeepsOnlyObjectsOfThePagesThatWereNamed) {
  char* const object = static_cast<char*>(get(64));
  EXPECT_FALSE(HeapThreadCache::free(object + 4)) << "no object begins there";
  EXPECT_FALSE(HeapThreadCache::free(&left)) << "private memory";
  EXPECT_FALSE(HeapThreadCache::free(nullptr));
  EXPECT_FALSE(HeapThreadCache::free(range)) << "a page of large objects";
  caches->set_size(static_cast<uint64_t>(object - range), 4096);
  EXPECT_FALSE(HeapThreadCache::free(object)) << "its page has larger objects now";
}

TEST_F(ThreadCache, NoObjectIsGivenOutTwiceAndWhatIsTooMuchGoesBack) {
  std::vector<void*> objects;
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 500; ++i) objects.push_back(get(16 + static_cast<size_t>(i) % 60));
    EXPECT_EQ(objects.size(), std::set<void*>(objects.begin(), objects.end()).size());
    for (void* const object : objects) put(object);
    objects.clear();
  }
  EXPECT_FALSE(back.empty());
  EXPECT_EQ(back.size(), std::set<void*>(back.begin(), back.end()).size());
  EXPECT_LE(caches->kept(), 5 * uint64_t{128} * 80);
}

TEST_F(ThreadCache, AThreadThatEndsGivesAllBack) {
  void* object = nullptr;
  std::thread([&] { object = get(100), put(get(100)); }).join();
  EXPECT_EQ(0u, caches->kept());
  EXPECT_FALSE(back.empty());
  EXPECT_EQ(0u, back.count(object)) << "that is not free";
  put(object);  // by another thread
  EXPECT_EQ(112u, caches->kept());
}

TEST_F(ThreadCache, WithoutRoomThereIsNone) {
  left = 2;
  EXPECT_NE(nullptr, get(16));
  EXPECT_NE(nullptr, get(16));
  EXPECT_EQ(nullptr, get(16));
}

TEST_F(ThreadCache, ClosesForASample) {
  caches.reset();
  start(100);
  put(get(48));
  EXPECT_NE(nullptr, HeapThreadCache::allocate(48));
  EXPECT_NE(nullptr, HeapThreadCache::allocate(48));
  EXPECT_EQ(nullptr, HeapThreadCache::allocate(48)) << "100 bytes have been allocated";
}

TEST_F(ThreadCache, AfterTheEndNothingIsKept) {
  void* const object = get(48);
  caches.reset();
  EXPECT_EQ(nullptr, HeapThreadCache::allocate(48));
  EXPECT_FALSE(HeapThreadCache::free(object));
}

// Two ranks of one node, which fill pages together.
class Packs : public HeapRanks {
 protected:
  void SetUp() override { start(a, packs[0]), start(b, packs[1]); }
  void start(Rank& rank, HeapPacks& of) {
    const auto give_back = [this](void* page, uint64_t) { given_back.insert(page); };
    const Status started = of.start({layout(), rank.job, memory.memory(), &rank.space, give_back});
    ASSERT_TRUE(started.ok()) << started.message();
  }
  static uint64_t page(const void* object) { return reinterpret_cast<uintptr_t>(object) / page_bytes; }

  HeapPacks packs[2];
  std::set<void*> given_back;
};

TEST_F(Packs, ObjectsOfTwoRanksLieSideBySide) {
  char* const one = static_cast<char*>(packs[0].take(48));
  char* const two = static_cast<char*>(packs[1].take(48));
  EXPECT_EQ(one + 48, two);
  EXPECT_NE(page(one), page(packs[1].take(64))) << "objects of a page have one size";
  EXPECT_TRUE(packs[0].has(a.space.position(two)));
  EXPECT_EQ(48U, packs[1].size(b.space.position(one)));
  EXPECT_FALSE(packs[0].has(a.space.position(a.space.take(0, MiB, 1)))) << "a chunk of other objects";
  packs[1].put(one);
  EXPECT_EQ(one, packs[0].take(48)) << "what one has freed the other gets";
}

TEST_F(Packs, NoPlaceIsGivenOutTwice) {
  std::set<void*> live;
  for (const size_t size : {8, 16, 112, 640, 1024})
    for (int i = 0; i < 1000; ++i) {
      void* const object = packs[i % 2].take(size);
      ASSERT_TRUE(live.insert(object).second);
      ASSERT_EQ(0U, reinterpret_cast<uintptr_t>(object) % 16);
      ASSERT_LE(reinterpret_cast<uintptr_t>(object) % page_bytes + size, page_bytes);
    }
  EXPECT_EQ(1000 * (16 + 16 + 112 + 640 + 1024), packs[0].taken() + packs[1].taken());
  for (void* const object : live) packs[0].put(object);
  EXPECT_EQ(0, packs[0].taken() + packs[1].taken());
}

TEST_F(Packs, FreePagesGiveTheirMemoryBackButForAFew) {
  std::vector<void*> objects;
  const uint64_t pages = HeapPacks::most_empty + 10;
  for (uint64_t i = 0; i < pages * 4; ++i) objects.push_back(packs[0].take(1024));
  EXPECT_EQ(pages * page_bytes, packs[1].used());
  for (void* const object : objects) packs[1].put(object);
  EXPECT_EQ(10U, given_back.size());
  EXPECT_EQ(HeapPacks::most_empty * page_bytes, packs[0].used());
  for (uint64_t i = 0; i < pages * 4; ++i) ASSERT_NE(nullptr, packs[0].take(1024));
  EXPECT_EQ(pages * page_bytes, packs[0].used());
}

TEST_F(Packs, WithoutRoomThereIsNone) {
  uint64_t objects = 0;
  while (packs[objects % 2].take(1024) != nullptr) ++objects;
  EXPECT_EQ(limit / 1024, objects);
}

}  // namespace
}  // namespace hiroba
