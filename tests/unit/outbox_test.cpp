// Frames on their way to the wire: what goes together, in which order, and what finds no room.
#include "transport/wire/outbox.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace hiroba {
namespace {

// Keeps what it is given, if it has room.
class KeepingWire final : public Wire {
 public:
  struct Sent {
    int to;
    std::vector<std::pair<Frame, uint64_t>> frames;  // with their counts
    std::string payload;
  };
  std::string describe() const override { return "keeping"; }
  Status open(const Start&) override { return {}; }
  int rank() const override { return 0; }
  int size() const override { return 8; }
  Status allgather(const void*, void*, size_t) override { return {}; }
  void close(bool) override {}
  bool send(int to, const void* frame, size_t size) override {
    if (room == 0) return false;
    --room, bytes += size;
    Sent message = {to, {}, {}};
    EXPECT_TRUE(for_each_frame(frame, size, keys.to(7 - to), [&](const Head& head, const char* payload) {
      message.frames.emplace_back(head.frame, head.count);
      message.payload.append(payload, head.payload);
      sizes.push_back(head.bytes);
    }));
    sent.push_back(message);
    return true;
  }
  void send_bulk(int, uint32_t, const void*, size_t, uint64_t) override {}
  void recv_bulk(int, uint32_t, void*, size_t, uint64_t) override {}
  bool poll() override { return false; }

  const PairKeys keys{{7, 7}, 0, 8};
  size_t room = SIZE_MAX, bytes = 0;
  std::vector<Sent> sent;
  std::vector<uint32_t> sizes;  // of all frames
};

class OutboxTest : public testing::Test {
 protected:
  void SetUp() override {
    std::iota(wire_ranks.rbegin(), wire_ranks.rend(), 0);  // rank r is 7 - r of the wire
    outbox.start(&wire, &wire.keys, &wire_ranks);
  }
  void gather(int rank, const std::string& text, Frame frame = Frame::put) {
    outbox.gather(rank, head_of(frame), text.data(), text.size());
  }
  // Where messages went, and what was in them: "1:ab 2:c".
  std::string sent() const {
    std::string out;
    for (const KeepingWire::Sent& message : wire.sent)
      out += (out.empty() ? "" : " ") + std::to_string(7 - message.to) + ":" + message.payload;
    return out;
  }
  KeepingWire wire;
  std::vector<int> wire_ranks = std::vector<int>(8);
  Outbox outbox;
};

TEST_F(OutboxTest, FramesForOneRankGoInOneMessage) {
  outbox.send();
  gather(1, "a"), gather(2, "b"), gather(1, "c"), gather(3, "d"), gather(2, "e");
  EXPECT_EQ("", sent());
  outbox.send();
  EXPECT_EQ("1:ac 2:be 3:d", sent());
  outbox.send();
  EXPECT_EQ(3u, wire.sent.size());
  EXPECT_EQ(3u, outbox.traffic().messages);
  EXPECT_EQ(5 * (sizeof(Head) + 1), outbox.traffic().bytes);
  EXPECT_EQ(wire.bytes, outbox.traffic().bytes);
  outbox.count(1000);
  EXPECT_EQ(4u, outbox.traffic().messages);
  EXPECT_EQ(wire.bytes + 1000, outbox.traffic().bytes);
}

TEST_F(OutboxTest, OfMoreRanksThanFitTheFirstGoes) {
  gather(1, "a"), gather(2, "b"), gather(3, "c"), gather(4, "d");
  gather(3, "e");
  EXPECT_EQ("", sent());
  gather(5, "f");
  EXPECT_EQ("1:a", sent());
  gather(6, "g");
  EXPECT_EQ("1:a 5:f", sent());
  outbox.send();
  EXPECT_EQ("1:a 5:f 6:g 2:b 3:ce 4:d", sent());
}

TEST_F(OutboxTest, AFullMessageGoesAndNothingIsLost) {
  const std::string most(max_inline, 'x'), half((Wire::max_frame - 2 * sizeof(Head)) / 2, 'y');
  gather(1, half), gather(1, half);
  EXPECT_EQ(0u, wire.sent.size()) << "they fit exactly";
  gather(1, "z");
  EXPECT_EQ("1:" + half + half, sent());
  gather(2, "w");
  gather(1, most);
  outbox.send();
  EXPECT_EQ("1:" + half + half + " 1:z 1:" + most + " 2:w", sent());
}

TEST_F(OutboxTest, AFrameThatGoesAloneWaitsForRoomToo) {
  gather(1, "a");
  const std::string large(Wire::max_frame - sizeof(Head) - 1, 'l');
  wire.room = 1;
  outbox.send_alone(1, head_of(Frame::message), std::string("b"), large);
  outbox.send_alone(2, head_of(Frame::message), std::string("c"), {});
  outbox.send();
  EXPECT_EQ("1:b" + large, sent()) << "before what is gathered";
  wire.room = 2;
  EXPECT_TRUE(outbox.retry());
  EXPECT_EQ("1:b" + large + " 2:c 1:a", sent());
}

TEST_F(OutboxTest, AHeadSaysHowMuchFollowsUnlessItSaysWhatIsWanted) {
  Head head = head_of(Frame::get);
  head.bytes = 4096;
  outbox.gather(1, head, nullptr, 0);
  gather(1, "abc");
  outbox.send();
  EXPECT_EQ((std::vector<uint32_t>{4096, 3}), wire.sizes);
}

TEST_F(OutboxTest, AFlushGoesWithTheLastPut) {
  gather(1, "a"), gather(1, "b");
  gather(2, "c", Frame::message);
  outbox.gather_flush(1, head_of(Frame::flush), 7);
  outbox.gather_flush(2, head_of(Frame::flush), 8);
  outbox.gather_flush(3, head_of(Frame::flush), 9);
  outbox.send();
  using Frames = std::vector<std::pair<Frame, uint64_t>>;
  ASSERT_EQ(3u, wire.sent.size());
  EXPECT_EQ((Frames{{Frame::put, 0}, {Frame::put, 7}}), wire.sent[0].frames);
  EXPECT_EQ((Frames{{Frame::message, 0}, {Frame::flush, 8}}), wire.sent[1].frames);
  EXPECT_EQ((Frames{{Frame::flush, 9}}), wire.sent[2].frames);
  outbox.gather_flush(1, head_of(Frame::flush), 10);
  outbox.send();
  EXPECT_EQ((Frames{{Frame::flush, 10}}), wire.sent.back().frames) << "that put has gone";
}

TEST_F(OutboxTest, WhatFindsNoRoomGoesLaterInOrder) {
  wire.room = 1;
  for (const char* text : {"a", "b", "c", "d"}) gather(1, text), outbox.send();
  EXPECT_EQ("1:a", sent());
  EXPECT_EQ(3u, outbox.queued());
  EXPECT_FALSE(outbox.retry());
  wire.room = 2;
  EXPECT_TRUE(outbox.retry());
  EXPECT_EQ("1:a 1:b 1:c", sent());
  EXPECT_EQ(1u, outbox.queued());
  wire.room = 5;
  gather(2, "e"), outbox.send();
  EXPECT_EQ(2u, outbox.queued()) << "it does not overtake";
  EXPECT_TRUE(outbox.retry());
  EXPECT_EQ("1:a 1:b 1:c 1:d 2:e", sent());
  EXPECT_EQ(0u, outbox.queued());
  EXPECT_FALSE(outbox.retry());
  EXPECT_EQ(5u, outbox.traffic().messages) << "each is counted once";
}

TEST(PairKeys, FramesOfOtherPairsAndJobsAreDropped) {
  const JobSecret secret = {3, 4}, foreign = {3, 5};
  const PairKeys sender(secret, 1, 3), receiver(secret, 2, 3), third(secret, 0, 3), stranger(foreign, 1, 3);
  int seen = 0;
  const auto arrives = [&seen](uint64_t key, uint64_t expected) {
    Head head = head_of(Frame::flush);
    head.key = key;
    return for_each_frame(&head, sizeof head, expected, [&seen](const Head&, const char*) { ++seen; });
  };
  EXPECT_TRUE(arrives(sender.to(2), receiver.from(1)));
  EXPECT_FALSE(arrives(sender.to(0), receiver.from(1))) << "it is for rank 0";
  EXPECT_FALSE(arrives(third.to(2), receiver.from(1))) << "it is of rank 0";
  EXPECT_FALSE(arrives(receiver.to(1), receiver.from(1))) << "it is receiver's own";
  EXPECT_FALSE(arrives(stranger.to(2), receiver.from(1)));
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace hiroba
