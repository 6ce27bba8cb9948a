// Bulk data, answers, and the wait for room, over a network that reorders and delays.
#include "fake_network.hpp"

namespace hiroba {
namespace {

// Has words that the other rank requests, and keeps the words that it sends.
class ChannelRank final : public FakeRank {
 public:
  static constexpr uint64_t words = 200;
  ChannelRank(FakeNetwork& network, int rank, int ranks) : FakeRank(network, rank, ranks) {
    for (uint64_t i = 0; i < words; ++i) here[i] = value(rank, i);
  }
  static uint64_t value(int rank, uint64_t i) { return static_cast<uint64_t>(rank) * 1000 + i + 1; }

  uint64_t here[words], sent_to_us[words] = {};
  std::atomic<uint64_t> arrived{0};

 private:
  void serve(int source, const Head& head, const char*) override {
    Transfers& transfers = channel.transfers();
    switch (head.frame) {
      case Frame::get_bulk:
        return channel.send_bulk_as(source, head.tag, &here[head.offset], head.bytes, transfers.add(nullptr, nullptr));
      case Frame::put_bulk: {
        const auto ended = [](void* self, WireTransfer&) { ++static_cast<ChannelRank*>(self)->arrived; };
        return channel.receive_bulk(source, head.tag, &sent_to_us[head.offset], head.bytes, transfers.add(ended, this));
      }
      case Frame::atomic: return channel.answer(source, head, here[head.offset] * 2);
      case Frame::result: return Channel::take_answer(head, head.operand);
      default: FAIL() << "frame " << static_cast<int>(head.frame);
    }
  }
};

class ChannelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ChannelTest, DataThatIsSentAndDataThatIsRequestedAreNotMixedUp) {
  FakeNetwork network(2, GetParam());
  std::vector<std::unique_ptr<ChannelRank>> ranks;
  for (int r = 0; r < 2; ++r) ranks.push_back(std::make_unique<ChannelRank>(network, r, 2));
  run_ranks<ChannelRank>(ranks, [](ChannelRank& self) {
    constexpr uint64_t words = ChannelRank::words, word = sizeof(uint64_t);
    const int other = 1 - self.rank;
    std::vector<uint64_t> got(words);
    Completion sent, received;
    for (uint64_t i = 0; i < words; ++i) {
      Head put = head_of(Frame::put_bulk), get = head_of(Frame::get_bulk);
      put.offset = i, get.offset = words - 1 - i, get.bytes = word;
      // Each in its order, so that one rank's tags of what it sends are those of what the other requests, but for a
      // bit.
      if (self.rank == 0) self.channel.send_bulk(other, put, &self.here[i], word, sent);
      self.channel.request_bulk(other, get, nullptr, 0, &got[i], word, received, false);
      if (self.rank == 1) self.channel.send_bulk(other, put, &self.here[i], word, sent);
    }
    self.channel.await(sent);
    self.channel.await(received);
    self.channel.engine().wait([&] { return self.arrived.load() == words; });
    for (uint64_t i = 0; i < words; ++i) {
      ASSERT_EQ(ChannelRank::value(other, words - 1 - i), got[i]);
      ASSERT_EQ(ChannelRank::value(other, i), self.sent_to_us[i]);
    }
  });
  for (const auto& rank : ranks)  // what it sent and requested, and what it sent on request
    EXPECT_EQ(2 * ChannelRank::words * (sizeof(Head) + sizeof(uint64_t)), rank->channel.outbox().traffic().bytes);
}

TEST_P(ChannelTest, AnAnswerGoesToTheRankThatHasAsked) {
  FakeNetwork network(3, GetParam());
  std::vector<std::unique_ptr<ChannelRank>> ranks;
  for (int r = 0; r < 3; ++r) ranks.push_back(std::make_unique<ChannelRank>(network, r, 3));
  run_ranks<ChannelRank>(ranks, [](ChannelRank& self) {
    for (uint64_t i = 0; i < 30; ++i) {
      const int other = (self.rank + 1 + static_cast<int>(i % 2)) % 3;
      Head head = head_of(Frame::atomic);
      head.offset = i;
      ASSERT_EQ(2 * ChannelRank::value(other, i), self.channel.ask(other, head));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChannelTest, testing::Range(uint64_t{1}, uint64_t{5}));

// Has room for some frames in each poll only.
class NarrowWire final : public Wire {
 public:
  std::string describe() const override { return "narrow"; }
  Status open(const Start&) override { return {}; }
  int rank() const override { return 0; }
  int size() const override { return 2; }
  Status allgather(const void*, void*, size_t) override { return {}; }
  void close(bool) override {}
  bool send(int, const void*, size_t) override { return room > 0 ? --room, ++sent, true : false; }
  void send_bulk(int, uint32_t, const void*, size_t, uint64_t) override {}
  void recv_bulk(int, uint32_t, void*, size_t, uint64_t) override {}
  bool poll() override { return room = 10, true; }
  int room = 10, sent = 0;
};

TEST(ChannelRoomTest, AThreadThatSendsMuchWaitsForRoom) {
  NarrowWire wire;
  const std::vector<int> wire_ranks = {0, 1};
  const PairKeys keys({1, 2}, 0, 2);
  Channel channel;
  channel.start(&wire, &keys, &wire_ranks);
  Engine::Config config;
  config.wire = &wire;
  config.placement.kind = Placement::Kind::none;
  config.before_poll = [](void* self) { static_cast<Channel*>(self)->outbox().send(); };
  config.after_poll = [](void* self) { return static_cast<Channel*>(self)->outbox().retry(); };
  config.moving = [](void*) { return false; };
  config.context = &channel;
  ASSERT_TRUE(channel.engine().start(config).ok());
  size_t most = 0;
  for (int n = 0; n < 10000; ++n) {
    channel.send(1, head_of(Frame::message), nullptr, 0);
    most = std::max(most, channel.outbox().queued());
  }
  EXPECT_EQ(4095u, most) << "then it has waited until half of them had gone";
  EXPECT_GT(wire.sent, 5000);
  channel.engine().stop();
}

}  // namespace
}  // namespace hiroba
