// The parts of the network transport, each alone, over a network that reorders and delays.
#include "fake_network.hpp"
#include "transport/net/deferred_gets.hpp"
#include "transport/order/group_barrier.hpp"
#include "transport/order/split_barrier.hpp"

namespace hiroba {
namespace {

constexpr int most_ranks = 6;

// Has one word for each other rank to put to, by small frames or as bulk data.
class PartsRank final : public FakeRank {
 public:
  PartsRank(FakeNetwork& network, const Job& job, Board& board) : FakeRank(network, job.rank, job.nranks), job(job) {
    puts.start(job.nranks, &channel);
    group.start(job.nranks, &channel, &puts);
    barrier.start(job, board, &channel);
  }
  void put(int to, uint64_t value, bool bulk, Completion& sent) {
    Head head = head_of(bulk ? Frame::put_bulk : Frame::put);
    head.offset = static_cast<uint64_t>(rank), head.expected = puts.number(to);
    outgoing.push_back(std::make_unique<uint64_t>(value));
    if (bulk) channel.send_bulk(to, head, outgoing.back().get(), sizeof value, sent);
    else channel.send_later(to, head, &value, sizeof value);
  }

  const Job job;
  PutLedger puts;
  GroupBarrier group;
  SplitBarrier barrier;
  std::atomic<uint64_t> words[most_ranks] = {};  // the greatest value that each has put
  std::vector<std::unique_ptr<uint64_t>> outgoing;

 private:
  void arrive(int source, uint64_t number, uint64_t value) {
    if (words[source].load() < value) words[source].store(value);
    puts.arrived(source, number);
  }
  void serve(int source, const Head& head, const char* payload) override {
    uint64_t value = 0;
    switch (head.frame) {
      case Frame::put:
        std::memcpy(&value, payload, sizeof value);
        arrive(source, head.expected, value);
        return head.count > 0 ? puts.serve_flush(source, head.count) : void();
      case Frame::put_bulk: {
        const auto ended = [](void* self, WireTransfer& put) {
          static_cast<PartsRank*>(self)->arrive(put.source, put.number, put.buffer[0]);
        };
        const uint64_t ticket = channel.transfers().add(ended, this);
        WireTransfer& transfer = channel.transfers().of(ticket);
        transfer.source = source, transfer.number = head.expected;
        transfer.buffer.assign(1, 0);
        return channel.receive_bulk(source, head.tag, transfer.buffer.data(), sizeof value, ticket);
      }
      case Frame::flush: return puts.serve_flush(source, head.count);
      case Frame::flushed: return puts.serve_flushed(source, head.count);
      case Frame::barrier_round: return barrier.receive(head, payload);
      case Frame::group_arrival: return group.serve(source, head.count);
      default: FAIL() << "frame " << static_cast<int>(head.frame);
    }
  }
  bool answer() override { return puts.answer_flushes(); }
};

struct Shape {
  int nranks, nnodes;
};

class NetPartsTest : public testing::TestWithParam<uint64_t> {
 protected:
  void make(Shape shape) {
    network = std::make_unique<FakeNetwork>(shape.nranks, GetParam());
    constexpr size_t bytes = 1 << 20;
    board.reset(static_cast<char*>(std::aligned_alloc(4096, bytes)));
    std::memset(board.get(), 0, bytes);
    for (int r = 0; r < shape.nranks; ++r) {
      Job job;
      job.rank = r, job.nranks = shape.nranks, job.nnodes = shape.nnodes;
      job.place_evenly();
      job.node = job.node_of(r);
      ranks.push_back(std::make_unique<PartsRank>(*network, job, *reinterpret_cast<Board*>(board.get())));
    }
  }
  void run(const std::function<void(PartsRank&)>& body) { run_ranks<PartsRank>(ranks, body); }
  PartsRank& at(int rank) { return *ranks[static_cast<size_t>(rank)]; }

  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> board;
  std::unique_ptr<FakeNetwork> network;
  std::vector<std::unique_ptr<PartsRank>> ranks;
};

TEST_P(NetPartsTest, AfterAFenceAllPutsHaveArrived) {
  make({3, 3});
  run([this](PartsRank& self) {
    std::mt19937_64 random(GetParam() + static_cast<uint64_t>(self.rank));
    Completion sent;
    for (uint64_t value = 1; value <= 150; ++value) {
      for (int to = 0; to < 3; ++to)
        if (to != self.rank) self.put(to, value, random() % 3 == 0, sent);
      if (random() % 4 != 0) continue;
      self.puts.fence();
      for (int to = 0; to < 3; ++to)
        if (to != self.rank) {
          ASSERT_EQ(value, at(to).words[self.rank].load());
        }
      self.channel.await(sent);
    }
    self.puts.fence();
    self.channel.await(sent);
    PutCount counts[1];
    EXPECT_TRUE(self.puts.count(counts)) << "all is fenced";
  });
}

TEST_P(NetPartsTest, TheLedgerKnowsWhoHasPutsThatNobodyFenced) {
  make({3, 3});
  run([](PartsRank& self) {
    if (self.rank != 0) return;
    Completion sent;
    const int one[] = {1}, both[] = {1, 2};
    PutCount counts[2];
    EXPECT_EQ(0U, self.puts.number_if_only_to(1));
    self.put(1, 5, false, sent);
    EXPECT_EQ(1U, self.puts.number_if_only_to(1));
    EXPECT_EQ(0U, self.puts.number_if_only_to(2));
    self.put(2, 5, false, sent);
    EXPECT_EQ(0U, self.puts.number_if_only_to(1));
    EXPECT_FALSE(self.puts.fenced_but_for(one));
    EXPECT_TRUE(self.puts.fenced_but_for(both));
    EXPECT_FALSE(self.puts.count({counts, 1}));
    ASSERT_TRUE(self.puts.count(counts));
    EXPECT_EQ(1U, counts[0].count);
    self.puts.acknowledge(counts[0]);
    EXPECT_TRUE(self.puts.number_if_only_to(counts[1].rank) > 0);
    self.puts.fence();
    EXPECT_EQ(1U, self.puts.sent(1));
  });
}

TEST_P(NetPartsTest, PutsAfterThoseThatAreAcknowledgedAreNotFenced) {
  make({3, 3});
  run([](PartsRank& self) {
    if (self.rank != 0) return;
    Completion sent;
    PutCount counts[1];
    for (int n = 0; n < 3; ++n) self.put(1, 5, false, sent);
    ASSERT_TRUE(self.puts.count(counts));
    EXPECT_EQ(3U, counts[0].count);
    self.put(1, 5, false, sent);
    self.puts.acknowledge(counts[0]);
    EXPECT_EQ(4U, self.puts.number_if_only_to(1)) << "the last one is still open";
    self.puts.acknowledge({1, 4});
    EXPECT_EQ(0U, self.puts.number_if_only_to(1));
    EXPECT_FALSE(self.puts.fence()) << "nothing to wait for";
    self.put(1, 5, false, sent);
    EXPECT_TRUE(self.puts.fence());
    EXPECT_EQ(5U, self.puts.sent(1));
  });
}

TEST_P(NetPartsTest, AGroupBarrierBringsThePutsOfThoseThatAreNamed) {
  make({4, 4});
  run([](PartsRank& self) {
    const int left = (self.rank + 3) % 4, right = (self.rank + 1) % 4, others[] = {left, right};
    for (uint64_t round = 1; round <= 60; ++round) {
      Completion sent;
      self.put(left, round, round % 3 == 0, sent);
      self.put(right, round, round % 2 == 0, sent);
      ASSERT_EQ(-1, self.group.wait(others, 20));
      ASSERT_FALSE(self.puts.fence()) << "all is acknowledged";
      ASSERT_GE(self.words[left].load(), round);
      ASSERT_GE(self.words[right].load(), round);
      self.channel.await(sent);
    }
  });
}

TEST_P(NetPartsTest, AGroupBarrierNamesTheRankThatHasNotCome) {
  make({3, 3});
  run([](PartsRank& self) {
    const int both[] = {1, 2};
    if (self.rank == 0) {
      EXPECT_EQ(2, self.group.wait(both, 0.2));
    }
    if (self.rank == 1) self.channel.send(0, head_of(Frame::group_arrival), nullptr, 0);
  });
}

TEST_P(NetPartsTest, AGroupBarrierWithoutATimeLimitWaits) {
  make({2, 2});
  run([](PartsRank& self) {
    if (self.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int other[] = {1 - self.rank};
    EXPECT_EQ(-1, self.group.wait(other, 0));
  });
}

// A rank's word says what it has put; every rank sees all words, and the counts of puts to it.
void check_barriers(PartsRank& self) {
  const int nranks = self.job.nranks, next = (self.rank + self.job.ranks_on(self.job.node)) % nranks;
  std::mt19937_64 random(static_cast<uint64_t>(self.rank));
  for (uint64_t round = 1; round <= 40; ++round) {
    Completion sent;
    SplitBarrier::PutCounts counts;
    if (next != self.rank) self.put(next, round, round % 3 == 0, sent);
    ASSERT_TRUE(self.puts.count(counts));
    self.barrier.arrive(round, round * 100 + static_cast<uint64_t>(self.rank), counts);
    if (random() % 2 == 0) std::this_thread::yield();
    std::vector<uint64_t> words(static_cast<size_t>(nranks));
    const SplitBarrier::Outcome outcome = self.barrier.await(words, 20);
    ASSERT_TRUE(outcome.complete);
    ASSERT_EQ(-1, outcome.b);
    for (int r = 0; r < nranks; ++r) ASSERT_EQ(round * 100 + static_cast<uint64_t>(r), words[static_cast<size_t>(r)]);
    self.barrier.for_each_put([&](int source, const PutCount& put) {
      if (put.rank != self.rank) return;
      self.channel.engine().wait([&] { return self.puts.arrived_up_to(source) >= put.count; });
      ASSERT_GE(self.words[source].load(), round);
    });
    for (const PutCount& put : counts)
      if (put.rank >= 0) self.puts.acknowledge(put);
    self.channel.await(sent);
  }
}

TEST_P(NetPartsTest, ABarrierBringsAllWordsAndCountsOfPuts) {
  make({5, 5});
  run(check_barriers);
}

TEST_P(NetPartsTest, ABarrierOfNodesWithSeveralRanks) {
  make({6, 3});
  run(check_barriers);
}

TEST_P(NetPartsTest, ABarrierSaysWhichRanksMadeAnotherCall) {
  make({4, 4});
  run([](PartsRank& self) {
    uint64_t words[4];
    self.barrier.arrive(self.rank == 2 ? 8 : 7, 0, {});
    const SplitBarrier::Outcome outcome = self.barrier.await(words, 20);
    EXPECT_TRUE(outcome.complete);
    EXPECT_EQ(0, outcome.a);
    EXPECT_EQ(2, outcome.b);
  });
}

TEST_P(NetPartsTest, ABarrierKnowsWhoIsMissing) {
  make({2, 2});
  run([](PartsRank& self) {
    uint64_t words[2];
    if (self.rank == 1) return;
    self.barrier.arrive(7, 0, {});
    EXPECT_FALSE(self.barrier.await(words, 0.1).complete);
    EXPECT_TRUE(self.barrier.heard_of(0));
    EXPECT_FALSE(self.barrier.heard_of(1));
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, NetPartsTest, testing::Range(uint64_t{1}, uint64_t{9}));

TEST(DeferredGetsTest, AGetWaitsForItsEpochAndForNoOther) {
  DeferredGets gets;
  std::vector<uint64_t> served;
  const auto serve = [&](int, const Head& head, const char* payload) {
    served.push_back(head.offset);
    EXPECT_EQ('x', payload[0]);
  };
  Head head = head_of(Frame::get);
  EXPECT_FALSE(gets.defer(1, head, "x", 1)) << "of this epoch";
  for (const uint32_t epoch : {2U, 1U, 3U}) {
    head.epoch = epoch, head.offset = epoch;
    EXPECT_TRUE(gets.defer(1, head, "x", 1));
  }
  gets.serve_due(serve);
  EXPECT_TRUE(served.empty());
  for (uint64_t epoch = 1; epoch <= 3; ++epoch) {
    EXPECT_TRUE(gets.pass());
    gets.serve_due(serve);
    ASSERT_EQ(epoch, served.size());
    EXPECT_EQ(epoch, served.back());
  }
  EXPECT_FALSE(gets.pass());
}

TEST(TransfersTest, WhatEndsMayStartAnotherAndDeferredOnesDoNotMove) {
  Transfers transfers;
  EXPECT_FALSE(transfers.moving());
  const auto again = [](void* context, WireTransfer& transfer) {
    auto& all = *static_cast<Transfers*>(context);
    EXPECT_EQ(7, transfer.source);
    for (int i = 0; i < 100; ++i) all.add(nullptr, nullptr);
  };
  const uint64_t ticket = transfers.add(again, &transfers);
  transfers.of(ticket).source = 7;
  EXPECT_TRUE(transfers.moving());
  transfers.defer();
  EXPECT_FALSE(transfers.moving()) << "it can come only after the next barrier";
  transfers.release_deferred();
  transfers.end(ticket);
  for (uint64_t t = 1; t <= 100; ++t) transfers.end(t);
  EXPECT_FALSE(transfers.moving());
  EXPECT_LE(transfers.add(nullptr, nullptr), 100U) << "tickets are used again";
}

}  // namespace
}  // namespace hiroba
