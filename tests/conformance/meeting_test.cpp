// Atomics, messages, waiting, exchange.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/wait.hpp"
#include "conformance/job.hpp"

namespace hiroba {
namespace {

class Meeting : public testing::Test {
 protected:
  void SetUp() override { t.meet(); }
  void TearDown() override { t.meet(); }

  // Serves the others until all have come: atomics of the reference implementation need their target's help.
  void meet() { t.meet(); }
  TestJob& t = the_job();
};

TEST_F(Meeting, AddsFromAllThreadsOfAllRanksAreCounted) {
  constexpr int threads = 3, times = 200;
  *reinterpret_cast<uint64_t*>(t.mine(0)) = 0;
  *reinterpret_cast<uint32_t*>(t.mine(8)) = 5;
  meet();
  std::vector<std::thread> pool;
  for (int k = 0; k < threads; ++k)
    pool.emplace_back([this] {
      for (int i = 0; i < times; ++i) {
        t.transport->words().fetch_add64(0, t.at(0, 0), uint64_t{1} << 33);
        t.transport->words().fetch_add32(0, t.at(0, 8), 2);
      }
    });
  for (std::thread& thread : pool) thread.join();
  meet();
  const auto all = static_cast<uint64_t>(threads * times * t.ranks());
  EXPECT_EQ(all << 33, t.transport->words().fetch_add64(0, t.at(0, 0), 0));
  EXPECT_EQ(5 + 2 * all, t.transport->words().fetch_add32(0, t.at(0, 8), 0));
}

// Each rank meets its neighbours in the ring only, who may be a step ahead; what it put to them and they to it is
// there.
TEST_F(Meeting, NeighboursAloneAreABarrierAndAFence) {
  constexpr int rounds = 100;
  constexpr size_t bytes = 16384;
  const int left = t.left();
  std::vector<int> others;
  for (const int r : {left, t.right()})
    if (r != t.rank() && (others.empty() || others[0] != r)) others.push_back(r);
  std::vector<uint64_t> sent(bytes / 8), seen(bytes / 8);
  const auto slot = [](int round) { return static_cast<uint64_t>(round % 3) * bytes; };
  for (int round = 1; round <= rounds; ++round) {
    const size_t size = round % 2 == 0 ? bytes : 64;
    std::fill(sent.begin(), sent.end(), static_cast<uint64_t>(round * 1000 + t.rank()));
    t.transport->put(t.right(), t.at(t.right(), slot(round)), sent.data(), size);
    ASSERT_TRUE(t.transport->barriers().group_barrier(7, others).ok());
    std::memcpy(seen.data(), t.mine(slot(round)), size);
    ASSERT_EQ(static_cast<uint64_t>(round * 1000 + left), seen[0]) << "round " << round;
    ASSERT_EQ(seen[0], seen[size / 8 - 1]) << "round " << round;
    t.transport->get(seen.data(), t.right(), t.at(t.right(), slot(round)), size);
    ASSERT_EQ(static_cast<uint64_t>(round * 1000 + t.rank()), seen[size / 8 - 1]) << "round " << round;
  }
}

// Each rank puts to one, two or all others and meets without a fence; then everyone reads what everyone has got, by get
// and in place.
TEST_F(Meeting, ExchangeIsAFence) {
  constexpr int rounds = 60;
  constexpr uint64_t slot = 16384;  // big enough for bulk data
  std::vector<uint64_t> sent(slot / 8), seen(slot / 8);
  for (int round = 1; round <= rounds; ++round) {
    const int targets = std::min(round % 4, t.ranks() - 1);
    const size_t bytes = round % 2 == 0 ? slot : 64;
    for (int k = 1; k <= targets; ++k) {
      const int to = (t.rank() + k) % t.ranks();
      std::fill(sent.begin(), sent.end(), static_cast<uint64_t>(round * 1000 + t.rank()));
      t.transport->put(to, t.at(to, slot * static_cast<uint64_t>(t.rank())), sent.data(), bytes);
    }
    meet();
    for (int home = 0; home < t.ranks(); ++home)
      for (int k = 1; k <= targets; ++k) {
        const int from = (home + t.ranks() - k) % t.ranks();
        t.transport->get(seen.data(), home, t.at(home, slot * static_cast<uint64_t>(from)), bytes);
        ASSERT_EQ(static_cast<uint64_t>(round * 1000 + from), seen[0]) << "round " << round << ", home " << home;
        ASSERT_EQ(seen[0], seen[bytes / 8 - 1]);
        if (home != t.rank()) continue;
        ASSERT_EQ(seen[0], *reinterpret_cast<volatile uint64_t*>(t.mine(slot * static_cast<uint64_t>(from))));
      }
    meet();
  }
}

TEST_F(Meeting, CompareSwapLetsOneIn) {
  auto* const counter = reinterpret_cast<uint64_t*>(t.mine(64));  // changed only inside; a broken lock loses updates
  *counter = 0;
  *reinterpret_cast<uint64_t*>(t.mine(0)) = 0;
  meet();
  for (int i = 0; i < 100; ++i) {
    while (t.transport->words().compare_swap64(0, t.at(0, 0), 0, 1) != 0) t.transport->progress();
    uint64_t value = 0;
    t.transport->get(&value, 0, t.at(0, 64), sizeof value);
    ++value;
    t.transport->put(0, t.at(0, 64), &value, sizeof value);
    t.transport->fence();
    EXPECT_EQ(1u, t.transport->words().compare_swap64(0, t.at(0, 0), 1, 0));
  }
  meet();
  uint64_t value = 0;
  t.transport->get(&value, 0, t.at(0, 64), sizeof value);
  EXPECT_EQ(100u * static_cast<unsigned>(t.ranks()), value);
}

TEST_F(Meeting, CompareSwapReturnsWhatItFound) {
  *reinterpret_cast<uint64_t*>(t.mine(128)) = 77;
  *reinterpret_cast<uint32_t*>(t.mine(136)) = 78;
  meet();
  EXPECT_EQ(77u, t.transport->words().compare_swap64(t.right(), t.at(t.right(), 128), 1, 2));
  EXPECT_EQ(78u, t.transport->words().compare_swap32(t.right(), t.at(t.right(), 136), 1, 2));
  meet();
  EXPECT_EQ(77u, t.transport->words().compare_swap64(t.right(), t.at(t.right(), 128), 77, 9));
  EXPECT_EQ(78u, t.transport->words().compare_swap32(t.right(), t.at(t.right(), 136), 78, 9));
  meet();
  EXPECT_EQ(9u, *reinterpret_cast<uint64_t*>(t.mine(128)));
  EXPECT_EQ(9u, *reinterpret_cast<uint32_t*>(t.mine(136)));
}

TEST_F(Meeting, EveryMessageArrivesOnceAndWhole) {
  constexpr int times = 400;
  t.messages = 0, t.message_sum = 0, t.damaged = false;
  meet();
  std::vector<uint64_t> payload(Transport::max_message / 8);
  for (int i = 0; i < times; ++i)
    for (int r = 0; r < t.ranks(); ++r) {
      const size_t words = 1 + static_cast<size_t>(i) * 7 % payload.size();
      for (size_t k = 0; k < words; ++k)
        payload[k] = (static_cast<uint64_t>(t.rank()) << 32 | static_cast<uint64_t>(i)) + k;
      t.transport->send(r, t.message_handler, payload.data(), words * 8);
    }
  const double start = seconds_now();
  while (t.messages < times * t.ranks() && seconds_now() - start < 20)
    if (!t.transport->progress()) t.transport->sleep(0.01);
  EXPECT_EQ(times * t.ranks(), t.messages);
  EXPECT_EQ(static_cast<uint64_t>(t.ranks()) * times * (times - 1) / 2, t.message_sum);
  EXPECT_FALSE(t.damaged);
}

// Up to the eager limit, to ranks that memory does not reach.
TEST_F(Meeting, EagerMessagesArriveWhole) {
  TwoSided* const messages = t.transport->two_sided();
  const bool far = messages != nullptr && t.transport->local_address(t.right(), 0) == nullptr;
  const std::vector<uint64_t> all = t.exchange(far ? 1 : 0);
  const int expected = all[static_cast<size_t>(t.left())] != 0 ? 100 : 0;
  t.messages = 0, t.damaged = false;
  meet();
  for (uint64_t i = 0; far && i < 100; ++i) {
    std::vector<uint64_t> words(1 + i * 1237 % (messages->eager_limit() / 8));
    if (i == 99) words.resize(messages->eager_limit() / 8);
    for (size_t k = 0; k < words.size(); ++k) words[k] = (static_cast<uint64_t>(t.rank()) << 32 | i) + k;
    const auto* const bytes = reinterpret_cast<const char*>(words.data());
    const size_t head = i % 2 == 0 ? 8 : words.size() * 8;
    messages->send(t.right(), t.message_handler, {bytes, head}, {bytes + head, words.size() * 8 - head});
  }
  const double start = seconds_now();
  while (t.messages < expected && seconds_now() - start < 20)
    if (!t.transport->progress()) t.transport->sleep(0.01);
  EXPECT_EQ(expected, t.messages);
  EXPECT_FALSE(t.damaged);
}

// The receiver learns the number after the transfer has begun, and of two takes the later one first.
TEST_F(Meeting, ATransferGoesWhereItsReceiverSays) {
  TwoSided* const messages = t.transport->two_sided();
  const bool far = messages != nullptr && t.transport->local_address(t.right(), 0) == nullptr;
  for (const size_t bytes : {size_t{1}, size_t{70000}, size_t{3} << 20}) {
    const auto pattern = [bytes](int rank, int which) {
      return std::vector<char>(bytes, static_cast<char>(rank * 2 + which + 1));
    };
    std::vector<char> data[] = {pattern(t.rank(), 0), pattern(t.rank(), 1)}, here[] = {{}, {}};
    Completion done;
    uint64_t numbers = 0;
    for (int k = 0; far && k < 2; ++k) {
      const auto number = messages->start_send(t.right(), data[k].data(), bytes, done);
      ASSERT_TRUE(number.has_value());
      numbers |= uint64_t{*number + 1} << 32 * k;
    }
    const uint64_t theirs = t.exchange(numbers)[static_cast<size_t>(t.left())];
    for (int k = 1; theirs != 0 && k >= 0; --k) {
      here[k].resize(bytes);
      const auto number = static_cast<uint32_t>(theirs >> 32 * k);
      messages->start_receive(t.left(), number - 1, here[k].data(), bytes, done);
    }
    t.transport->one_sided().await(done);
    for (int k = 0; theirs != 0 && k < 2; ++k) EXPECT_TRUE(here[k] == pattern(t.left(), k));
  }
}

// All inboxes are full, and all owners in handlers that send.
TEST_F(Meeting, HandlersThatSendToFullInboxesGoOn) {
  constexpr int times = 300, hops = 8;
  t.messages = 0;
  meet();
  std::vector<uint64_t> payload(Transport::max_message / 8);
  payload[0] = hops;
  for (int i = 0; i < times; ++i) t.transport->send(t.right(), t.relay_handler, payload.data(), payload.size() * 8);
  const double start = seconds_now();
  while (t.messages < times * hops && seconds_now() - start < 20)
    if (!t.transport->progress()) t.transport->sleep(0.01);
  EXPECT_EQ(times * hops, t.messages);
}

TEST_F(Meeting, AWaitEndsWhenTheWordChanges) {
  auto* const word = reinterpret_cast<uint32_t*>(t.mine(256));
  *word = 0;
  meet();
  if (t.rank() == 0) {
    usleep(50000);
    t.transport->words().fetch_add32(0, t.at(0, 256), 1);
    t.transport->words().wake(0, t.at(0, 256));
  } else {
    uint32_t value = 0;
    const double start = seconds_now();
    while (value == 0 && seconds_now() - start < 10) value = t.transport->words().await_change(0, t.at(0, 256), 0, 1.0);
    EXPECT_EQ(1u, value);
    EXPECT_LT(seconds_now() - start, 9.0);
  }
  meet();
}

TEST_F(Meeting, AWaitForAWordThatStaysEndsInTime) {
  *reinterpret_cast<uint32_t*>(t.mine(260)) = 3;
  const double start = seconds_now();
  EXPECT_EQ(3u, t.transport->words().await_change(t.rank(), t.at(t.rank(), 260), 3, 0.05));
  EXPECT_LT(seconds_now() - start, 5.0);
}

TEST_F(Meeting, ExchangeGivesEveryWordToEveryone) {
  for (uint64_t i = 0; i < 300; ++i) {
    const auto words = t.exchange(i * 1000 + static_cast<uint64_t>(t.rank()));
    for (int r = 0; r < t.ranks(); ++r) ASSERT_EQ(i * 1000 + static_cast<uint64_t>(r), words[static_cast<size_t>(r)]);
  }
}

TEST_F(Meeting, ExchangeIsABarrier) {
  auto& here = *reinterpret_cast<std::atomic<uint64_t>*>(t.mine(512));
  for (uint64_t i = 1; i <= 100; ++i) {
    here = i;
    if (t.rank() == static_cast<int>(i) % t.ranks()) usleep(200);
    meet();
    uint64_t theirs = 0;
    t.transport->get(&theirs, t.right(), t.at(t.right(), 512), sizeof theirs);
    ASSERT_EQ(i, theirs);
    meet();
  }
}

// What was put before the first half is there after the second, which waits for the late; in between there is no
// barrier, and puts and gets are as ever.
TEST_F(Meeting, AnExchangeInTwoHalvesIsABarrierAndAFence) {
  std::vector<uint64_t> words(static_cast<size_t>(t.ranks()));
  for (uint64_t i = 1; i <= 200; ++i) {
    t.transport->put(t.right(), t.at(t.right(), 640), &i, sizeof i);
    if (t.rank() == static_cast<int>(i) % t.ranks()) usleep(200);
    t.transport->barriers().start_barrier(1, i * 1000 + static_cast<uint64_t>(t.rank()));
    t.transport->put(t.right(), t.at(t.right(), 704), &i, sizeof i);
    t.transport->fence();
    uint64_t between = 0;
    t.transport->get(&between, t.right(), t.at(t.right(), 704), sizeof between);
    ASSERT_EQ(i, between);
    ASSERT_TRUE(t.transport->barriers().end_barrier(words).ok());
    for (int r = 0; r < t.ranks(); ++r) ASSERT_EQ(i * 1000 + static_cast<uint64_t>(r), words[static_cast<size_t>(r)]);
    uint64_t arrived = 0;
    std::memcpy(&arrived, t.mine(640), sizeof arrived);
    ASSERT_EQ(i, arrived);
    meet();
  }
}

// A rank that computes between the halves keeps nobody waiting, if an exchange is more than messages to rank 0.
TEST_F(Meeting, AnExchangeGoesOnWhileARankComputes) {
  const auto capabilities = t.transport->capabilities();
  const bool native = std::any_of(capabilities.begin(), capabilities.end(), [](const Capability& c) {
    return c.native && std::strcmp(c.name, "barrier with words") == 0;
  });
  if (!native || t.job.nnodes < t.ranks()) GTEST_SKIP() << "it does not promise that, or ranks share a node";
  std::vector<uint64_t> words(static_cast<size_t>(t.ranks()));
  meet();
  t.transport->barriers().start_barrier(1, 0);
  if (t.rank() == 0) sleep(1);
  const double start = seconds_now();
  ASSERT_TRUE(t.transport->barriers().end_barrier(words).ok());
  const double limit = t.rank() == 0 ? 20 : 0.9;
  EXPECT_LT(seconds_now() - start, limit);
}

// What a rank has been asked by the time that it comes to an exchange it answers then, and not when it has computed.
// Run without a progress thread, too, which would answer as well.
TEST_F(Meeting, WhoComesAnswersWhatHasBeenAsked) {
  if (t.job.nnodes < t.ranks() || t.ranks() < 2) GTEST_SKIP() << "where every rank has a node of its own";
  std::vector<uint64_t> words(static_cast<size_t>(t.ranks()));
  uint64_t seen = 0;
  Completion completion;
  std::memset(t.mine(768), 7, sizeof seen);
  meet();
  const double start = seconds_now();
  if (t.rank() == 1) t.transport->one_sided().start_get(&seen, 0, t.at(0, 768), sizeof seen, completion, nullptr);
  else usleep(200000);
  t.transport->barriers().start_barrier(1, 0);
  if (t.rank() == 0) sleep(1);
  t.transport->one_sided().await(completion);
  if (t.rank() == 1) {
    EXPECT_EQ(0x0707070707070707u, seen);
    EXPECT_LT(seconds_now() - start, 0.9);
  }
  ASSERT_TRUE(t.transport->barriers().end_barrier(words).ok());
}

TEST(Capabilities, AreNamed) {
  for (const Capability& capability : the_job().transport->capabilities()) EXPECT_NE(nullptr, capability.name);
}

}  // namespace
}  // namespace hiroba
