// Put and get: contiguous, strided, packed; what a fence means; many threads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "conformance/job.hpp"

namespace hiroba {
namespace {

// Data that tells who wrote it, where, and when.
std::vector<char> pattern(int writer, size_t bytes, unsigned round) {
  std::vector<char> data(bytes);
  for (size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<char>(i * 31 + i / 251 + static_cast<size_t>(writer) * 7 + round * 13 + 1);
  return data;
}

class Moving : public testing::Test {
 protected:
  void SetUp() override { t.meet(); }
  void TearDown() override { t.meet(); }
  TestJob& t = the_job();
};

TEST_F(Moving, EverySizeAroundPowersOfTwoAtUnalignedPlaces) {
  unsigned round = 0;
  for (size_t power = 1; power <= 1 << 20; power *= 2)
    for (const size_t bytes : {power - 1, power, power + 1})
      for (const uint64_t offset : {0, 1, 4093}) {
        const auto data = pattern(t.rank(), bytes, ++round);
        t.transport->put(t.right(), t.at(t.right(), offset), data.data(), bytes);
        t.transport->fence();
        t.meet();
        const int left = t.left();
        const auto expected = pattern(left, bytes, round);
        ASSERT_EQ(0, std::memcmp(t.mine(offset), expected.data(), bytes)) << "put of " << bytes << " at " << offset;
        std::vector<char> back(bytes, 0);
        t.transport->get(back.data(), t.right(), t.at(t.right(), offset), bytes);
        ASSERT_EQ(back, data) << "get of " << bytes << " at " << offset;
        t.meet();
      }
}

TEST_F(Moving, ZeroBytesTouchNothing) {
  *t.mine() = 42;
  t.meet();
  t.transport->put(t.right(), t.at(t.right()), nullptr, 0);
  t.transport->get(nullptr, t.right(), t.at(t.right()), 0);
  t.transport->fence();
  t.meet();
  EXPECT_EQ(42, *t.mine());
}

TEST_F(Moving, FencedPutsToOnePlaceKeepTheirOrder) {
  for (uint64_t i = 1; i <= 200; ++i) {
    for (uint64_t half = 0; half < 2; ++half) {
      const uint64_t value = 2 * i + half;
      t.transport->put(t.right(), t.at(t.right(), 64), &value, sizeof value);
      t.transport->fence();
    }
    t.meet();
    uint64_t seen = 0;
    std::memcpy(&seen, t.mine(64), sizeof seen);
    ASSERT_EQ(2 * i + 1, seen);
    t.meet();
  }
}

TEST_F(Moving, DataIsThereBeforeAFlagSetAfterTheFence) {
  constexpr uint64_t flag_at = 1 << 16;
  *reinterpret_cast<uint64_t*>(t.mine(flag_at)) = 0;
  t.meet();
  const int left = t.left();
  auto& flag = *reinterpret_cast<std::atomic<uint64_t>*>(t.mine(flag_at));
  for (unsigned round = 1; round <= 100; ++round) {
    const auto data = pattern(t.rank(), 5000, round);
    t.transport->put(t.right(), t.at(t.right()), data.data(), data.size());
    t.transport->fence();
    t.transport->words().fetch_add64(t.right(), t.at(t.right(), flag_at), 1);
    while (flag.load() < round) t.transport->progress();
    const auto expected = pattern(left, 5000, round);
    ASSERT_EQ(0, std::memcmp(t.mine(), expected.data(), expected.size())) << "round " << round;
    t.meet();
  }
}

// Whether it was put to the receiver alone, when the message may overtake it, or to others as well.
TEST_F(Moving, DataIsThereWhenAMessageAfterItComes) {
  constexpr size_t most = 64;
  const int left = (t.rank() + t.ranks() - 1) % t.ranks(), next = (t.right() + 1) % t.ranks();
  unsigned round = 0;
  t.damaged = false;
  for (const size_t bytes : {size_t{8}, size_t{5000}, size_t{300000}, size_t{5} << 20})
    for (int turn = 0; turn < 12; ++turn) {
      const bool to_others = turn % 3 == 2;
      const auto data = pattern(t.rank(), bytes, ++round);
      std::vector<char> claim(sizeof(uint64_t));
      const uint64_t tail = bytes - std::min(bytes, most);
      std::memcpy(claim.data(), &tail, sizeof tail);
      claim.insert(claim.end(), data.begin() + static_cast<ptrdiff_t>(tail), data.end());
      t.messages = 0;
      t.meet();
      Completion sent;
      if (to_others)
        t.transport->one_sided().start_put(next, t.at(next, TestJob::region / 2), data.data(), bytes, sent);
      t.transport->one_sided().start_put(t.right(), t.at(t.right()), data.data(), bytes, sent);
      t.transport->send_after_puts(t.right(), t.claim_handler, claim.data(), claim.size());
      while (t.messages == 0) t.transport->progress();
      ASSERT_FALSE(t.damaged) << bytes << " bytes, round " << round;
      if (to_others) {
        std::vector<char> there(bytes);
        t.transport->get(there.data(), t.right(), t.at(t.right(), TestJob::region / 2), bytes);
        ASSERT_EQ(pattern(left, bytes, round), there) << "put to another, " << bytes << " bytes, round " << round;
      }
      t.transport->one_sided().await(sent);
      t.meet();
    }
}

TEST_F(Moving, ManyPutsUnderWayThenOneWait) {
  constexpr size_t pieces = 24;
  for (const size_t bytes : {64, 5000, 300000}) {
    std::vector<std::vector<char>> sources;
    Completion sent;
    for (size_t k = 0; k < pieces; ++k) {
      sources.push_back(pattern(t.rank(), bytes, static_cast<unsigned>(k)));
      t.transport->one_sided().start_put(t.right(), t.at(t.right(), k * bytes), sources[k].data(), bytes, sent);
    }
    t.transport->one_sided().await(sent);
    for (auto& source : sources) std::fill(source.begin(), source.end(), 0);  // may be reused
    t.transport->fence();
    t.meet();
    const int left = t.left();
    for (size_t k = 0; k < pieces; ++k) {
      const auto expected = pattern(left, bytes, static_cast<unsigned>(k));
      ASSERT_EQ(0, std::memcmp(t.mine(k * bytes), expected.data(), bytes)) << "put " << k << " of " << bytes;
    }
    t.meet();
  }
}

// Asked for before the exchange, read after it: what the owner wrote in between must come.
TEST_F(Moving, GetsAheadOfAnExchangeReadWhatIsThereAfterIt) {
  const bool ahead = t.transport->one_sided().defers_gets(t.right());
  for (unsigned round = 1; round <= 60; ++round)
    for (const size_t bytes : {8, 4096, 200000}) {
      std::vector<char> seen(bytes, 0);
      Completion completion;
      if (ahead)
        t.transport->one_sided().start_deferred_get(seen.data(), t.right(), t.at(t.right()), bytes, completion,
                                                    nullptr);
      if ((round + static_cast<unsigned>(t.rank())) % 3 == 0) usleep(200);  // the question is there before the answer
      const auto data = pattern(t.rank(), bytes, round);
      std::memcpy(t.mine(), data.data(), bytes);
      t.meet();
      t.transport->one_sided().await(completion);
      if (ahead) {
        ASSERT_EQ(pattern(t.right(), bytes, round), seen) << bytes << " bytes, round " << round;
      }
      t.meet();
    }
  if (!ahead) GTEST_SKIP() << "rank " << t.right() << " is asked only for what is there already";
}

// From local memory, `local` bytes, to remote memory.
Walk random_walk(std::mt19937& random, std::vector<char>& local) {
  Walk walk;
  walk.dims = 1 + static_cast<int>(random() % 6);
  walk.block = 1 + random() % 24;
  auto near = static_cast<int64_t>(walk.block), far = near;
  for (int d = walk.dims - 1; d >= 0; --d) {
    const int64_t most = 1 + static_cast<int64_t>(random() % (walk.dims > 4 ? 2 : 4));
    walk.count[d] = random() % 9 == 0 ? 0 : most;
    walk.from[d] = near + static_cast<int64_t>(random() % 9);
    walk.to[d] = far + static_cast<int64_t>(random() % 9);
    near = walk.from[d] * most, far = walk.to[d] * most;
  }
  local.resize(static_cast<size_t>(near) + 64);
  return walk;
}

// Calls move for each block, by recursion: another way than the implementation's.
template <typename Move>
void blocks(const Walk& walk, int d, int64_t local, int64_t remote, const Move& move) {
  if (d == walk.dims) return move(local, remote);
  for (int64_t i = 0; i < walk.count[d]; ++i)
    blocks(walk, d + 1, local + i * walk.from[d], remote + i * walk.to[d], move);
}

TEST_F(Moving, StridedBoxesOfUpToSixDimensions) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<char> local;
    const Walk walk = random_walk(random, local);
    for (char& c : local) c = static_cast<char>(random());
    constexpr size_t room = 1 << 18;
    std::memset(t.mine(), 0, room);
    t.meet();
    t.transport->one_sided().put_strided(t.right(), t.at(t.right()), local.data(), walk);
    t.transport->fence();
    t.meet();
    std::vector<char> expected(room, 0), remote(room), back(local.size(), 0), expected_back(local.size(), 0);
    blocks(walk, 0, 0, 0, [&](int64_t l, int64_t r) {
      std::memcpy(&expected[static_cast<size_t>(r)], &local[static_cast<size_t>(l)], walk.block);
    });
    t.transport->get(remote.data(), t.right(), t.at(t.right()), room);
    ASSERT_EQ(expected, remote) << "put, round " << round;
    t.transport->one_sided().get_strided(back.data(), t.right(), t.at(t.right()), walk.turned());
    blocks(walk, 0, 0, 0, [&](int64_t l, int64_t) {
      std::memcpy(&expected_back[static_cast<size_t>(l)], &local[static_cast<size_t>(l)], walk.block);
    });
    ASSERT_EQ(expected_back, back) << "get, round " << round;
    t.meet();
  }
}

// Strides of which no one is a multiple of another, against the direction of the other side, transposed.
TEST_F(Moving, StridedBoxesTurnedAround) {
  constexpr size_t room = 1 << 12;
  std::vector<char> local(room);
  for (size_t i = 0; i < room; ++i) local[i] = static_cast<char>(i * 7 + static_cast<size_t>(t.rank()));
  Walk turned, transposed;
  turned.dims = 1, turned.block = 5, turned.count[0] = 40;
  turned.from[0] = 7, turned.to[0] = -11;
  transposed.dims = 2, transposed.block = 8, transposed.count[0] = 6, transposed.count[1] = 5;
  transposed.from[0] = 40, transposed.from[1] = 8;
  transposed.to[0] = 8, transposed.to[1] = 72;
  for (const Walk& walk : {turned, transposed}) {
    std::memset(t.mine(), 0, room);
    t.meet();
    t.transport->one_sided().put_strided(t.right(), t.at(t.right(), 1024), local.data(), walk);
    t.transport->fence();
    std::vector<char> expected(room, 0), remote(room), back(room, 0), expected_back(room, 0);
    blocks(walk, 0, 0, 1024, [&](int64_t l, int64_t r) {
      std::memcpy(&expected[static_cast<size_t>(r)], &local[static_cast<size_t>(l)], walk.block);
      std::memcpy(&expected_back[static_cast<size_t>(l)], &local[static_cast<size_t>(l)], walk.block);
    });
    t.transport->get(remote.data(), t.right(), t.at(t.right()), room);
    EXPECT_EQ(expected, remote);
    t.transport->one_sided().get_strided(back.data(), t.right(), t.at(t.right(), 1024), walk.turned());
    EXPECT_EQ(expected_back, back);
    t.meet();
  }
}

// Every rank adds to every rank, itself included: no addition is lost.
template <typename T>
void accumulate_everywhere(TestJob& t, Number type) {
  constexpr size_t numbers = 3000;
  T* const mine = reinterpret_cast<T*>(t.mine(64));
  for (size_t i = 0; i < numbers; ++i) mine[i] = static_cast<T>(i);
  t.meet();
  std::vector<T> added(numbers);
  for (size_t i = 0; i < numbers; ++i) added[i] = static_cast<T>(i % 100 + 1);
  for (int round = 0; round < 20; ++round)
    for (int r = 0; r < t.ranks(); ++r)
      ASSERT_TRUE(t.transport->one_sided().accumulate(r, t.at(r, 64), added.data(), type, numbers));
  t.meet();
  for (size_t i = 0; i < numbers; ++i)
    ASSERT_EQ(static_cast<T>(i) + static_cast<T>(20 * t.ranks()) * added[i], mine[i]) << "number " << i;
  t.meet();
}

TEST_F(Moving, AccumulatesLoseNothing) {
  const double zero = 0;
  if (!t.transport->one_sided().accumulate(t.rank(), t.at(t.rank()), &zero, Number::float64, 1))
    GTEST_SKIP() << "this transport has no accumulate";
  accumulate_everywhere<int32_t>(t, Number::int32);
  accumulate_everywhere<int64_t>(t, Number::int64);
  accumulate_everywhere<float>(t, Number::float32);
  accumulate_everywhere<double>(t, Number::float64);
}

// What the list of capabilities says is what there is.
TEST_F(Moving, AccumulateIsThereIfItIsSaidToBe) {
  bool said = false;
  for (const Capability& row : t.transport->capabilities())
    said = said || (row.name == std::string("accumulate") && row.native);
  const int32_t zero = 0;
  EXPECT_EQ(said, t.transport->one_sided().accumulate(t.rank(), t.at(t.rank()), &zero, Number::int32, 1));
}

TEST_F(Moving, PackedPieces) {
  std::mt19937 random(3);
  std::vector<char> expected(1 << 16, 0);
  std::memset(t.mine(), 0, expected.size());
  t.meet();
  std::vector<PackedWord> pieces;
  for (size_t at = 0; at + 700 < expected.size(); at += 1 + random() % 900) {
    const size_t bytes = 1 + random() % 300;
    pieces.push_back(t.at(t.right(), at) << 16 | bytes);
    const size_t first = pieces.size();
    pieces.resize(first + (bytes + 7) / 8);
    for (size_t i = 0; i < bytes; ++i)
      expected[at + i] = reinterpret_cast<char*>(&pieces[first])[i] = static_cast<char>(random());
    at += bytes;
  }
  Completion sent;
  t.transport->one_sided().start_put_packed(t.right(), pieces, sent);
  t.transport->one_sided().await(sent);
  t.transport->fence();
  t.meet();
  EXPECT_EQ(0, std::memcmp(t.mine(), expected.data(), expected.size()));
}

// Any bytes of pages, and no others.
TEST_F(Moving, MaskedPieces) {
  std::mt19937_64 random(4);
  std::vector<char> expected(1 << 16, 1);
  std::memset(t.mine(), 1, expected.size());
  t.meet();
  std::vector<PackedWord> pieces;
  for (size_t at = 0; at < expected.size(); at += Packed::page) {
    std::array<char, Packed::page> bytes;
    for (char& byte : bytes) byte = static_cast<char>(random());
    std::array<uint64_t, Packed::lines> masks;
    for (uint64_t& mask : masks) mask = random() % 4 == 0 ? ~uint64_t{0} : random() & random();
    const uint64_t lines = random() | 1;
    for (size_t i = 0; i < bytes.size(); ++i)
      if ((lines >> i / 64 & 1) != 0 && (masks[i / 64] >> i % 64 & 1) != 0) expected[at + i] = bytes[i];
    const size_t first = pieces.size();
    pieces.resize(first + most_masked_words);
    pieces.resize(first + pack_masked(t.at(t.right(), at), bytes.data(), lines, masks.data(), &pieces[first]));
  }
  Completion sent;
  t.transport->one_sided().start_put_packed(t.right(), pieces, sent);
  t.transport->one_sided().await(sent);
  t.transport->fence();
  t.meet();
  EXPECT_EQ(0, std::memcmp(t.mine(), expected.data(), expected.size()));
}

TEST_F(Moving, ManyThreadsAtOnce) {
  constexpr size_t threads = 4, bytes = 3000, stride = 8192;
  std::atomic<int> wrong{0};
  std::vector<std::thread> pool;
  for (size_t k = 0; k < threads; ++k)
    pool.emplace_back([&, k] {
      const uint64_t place = t.at(t.right(), stride * (1 + static_cast<uint64_t>(t.rank()) * threads + k));
      std::vector<char> back(bytes);
      for (unsigned round = 0; round < 50; ++round) {
        const auto data = pattern(static_cast<int>(k), bytes, round);
        t.transport->put(t.right(), place, data.data(), bytes);
        t.transport->fence();
        t.transport->get(back.data(), t.right(), place, bytes);
        if (back != data) ++wrong;
      }
    });
  for (std::thread& thread : pool) thread.join();
  EXPECT_EQ(0, wrong);
}

TEST_F(Moving, ForgettingTheWindowKeepsTheData) {
  const auto data = pattern(t.rank(), 100000, 5);
  t.transport->put(t.right(), t.at(t.right()), data.data(), data.size());
  t.transport->fence();
  t.transport->one_sided().release_mapping(t.at(t.right()), 1 << 17);
  std::vector<char> back(data.size());
  t.transport->get(back.data(), t.right(), t.at(t.right()), back.size());
  EXPECT_EQ(data, back);
}

}  // namespace
}  // namespace hiroba
