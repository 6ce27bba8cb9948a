// Messages, puts and gets of the network transport, between memories of their own, over a network that reorders and
// delays.
#include <sys/mman.h>
#include <unistd.h>

#include "fake_network.hpp"
#include "transport/net/gets.hpp"
#include "transport/net/messages.hpp"
#include "transport/net/puts.hpp"
#include "transport/net/sends.hpp"

namespace hiroba {
namespace {

constexpr uint64_t memory_bytes = uint64_t{4} << 20;
constexpr size_t in_frame = 5000, as_bulk = 100000;
constexpr int ranks_here = 3;

class MovesRank final : public FakeRank {
 public:
  MovesRank(FakeNetwork& network, int rank) : FakeRank(network, rank, ranks_here) {
    EXPECT_EQ(0, ftruncate(file_, memory_bytes));
    EXPECT_TRUE(window.start(memory_bytes).ok());
    EXPECT_TRUE(window.attach(0, memory_bytes, file_).ok());
    ledger.start(ranks_here, &channel);
    messages.start(&channel, &ledger, {this, [](const void* self, int handler, int, const void* payload, size_t bytes) {
                                         static_cast<const MovesRank*>(self)->handle(handler, payload, bytes);
                                       }});
    sends.start(&channel);
    puts.start(&channel, &window, &ledger);
    gets.start(&channel, &window, &messages);
  }
  ~MovesRank() override {
    window.stop();
    close(file_);
  }

  Window window;
  PutLedger ledger;
  Messages messages;
  Sends sends;
  Puts puts;
  Gets gets;
  mutable std::function<void(int handler, const void* payload, size_t bytes)> handle;
  std::atomic<int> gets_seen{0};

 private:
  void serve(int source, const Head& head, const char* payload) override {
    switch (head.frame) {
      case Frame::message: return messages.serve(source, head, payload, head.payload);
      case Frame::put:
      case Frame::put_bulk:
      case Frame::packed:
      case Frame::packed_bulk:
      case Frame::strided:
      case Frame::strided_bulk: return puts.serve(source, head, payload);
      case Frame::flush: return ledger.serve_flush(source, head.count);
      case Frame::flushed: return ledger.serve_flushed(source, head.count);
      case Frame::get:
      case Frame::get_bulk:
      case Frame::get_strided: ++gets_seen; return gets.serve(source, head, payload, head.payload);
      case Frame::got: return Gets::serve_got(head, payload, head.payload);
      default: FAIL() << "frame " << static_cast<int>(head.frame);
    }
  }
  bool answer() override {
    bool any = ledger.answer_flushes();
    any = messages.serve_early() || any;
    gets.serve_due();
    return any;
  }

  const int file_ = memfd_create("rank", MFD_CLOEXEC);
};

class NetMovesTest : public testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    for (int r = 0; r < ranks_here; ++r) ranks.push_back(std::make_unique<MovesRank>(network, r));
  }
  void run(const std::function<void(MovesRank&)>& body) { run_ranks<MovesRank>(ranks, body); }
  MovesRank& at(int rank) { return *ranks[static_cast<size_t>(rank)]; }
  MovesRank& after(const MovesRank& self) { return at((self.rank + 1) % ranks_here); }
  std::vector<char> noise(size_t bytes, int rank) const {
    std::mt19937_64 random(GetParam() * 100 + static_cast<uint64_t>(rank));
    std::vector<char> out(bytes);
    for (char& c : out) c = static_cast<char>(random());
    return out;
  }
  bool equal(const char* a, const std::vector<char>& b) const { return std::memcmp(a, b.data(), b.size()) == 0; }

  FakeNetwork network{ranks_here, GetParam()};
  std::vector<std::unique_ptr<MovesRank>> ranks;
};

TEST_P(NetMovesTest, PutsOfEverySizeHaveArrivedAfterAFence) {
  run([this](MovesRank& self) {
    const std::vector<char> data = noise(as_bulk, self.rank);
    MovesRank& other = after(self);
    Completion sent;
    self.puts.put(other.rank, 0, data.data(), in_frame, sent);
    self.puts.put(other.rank, in_frame, data.data() + in_frame, as_bulk - in_frame, sent);
    self.ledger.fence();
    EXPECT_TRUE(equal(other.window.at(0), data));
    self.channel.await(sent);
  });
}

TEST_P(NetMovesTest, PiecesArePutWhereTheirHeadsSay) {
  run([this](MovesRank& self) {
    MovesRank& other = after(self);
    for (const uint64_t pieces : {uint64_t{3}, uint64_t{2000}}) {  // in a frame, and as bulk data
      std::vector<PackedWord> packed;
      for (uint64_t i = 0; i < pieces; ++i) {
        packed.push_back((i * 64) << 16 | (i % 2 == 0 ? 8 : 3));
        packed.push_back(0x0101010101010101 * (i % 250 + 1));
      }
      Completion sent;
      self.puts.put_packed(other.rank, packed, sent);
      self.ledger.fence();
      self.channel.await(sent);
      for (uint64_t i = 0; i < pieces; ++i) {
        const char* const piece = other.window.at(i * 64);
        ASSERT_EQ(static_cast<char>(i % 250 + 1), piece[2]);
        ASSERT_EQ(i % 2 == 0 ? piece[2] : 0, piece[3]);
      }
    }
  });
}

// `rows` rows of 24 bytes, 40 bytes apart there and 32 here.
Walk rows_of(size_t rows) {
  Walk walk;
  walk.dims = 1, walk.block = 24, walk.count[0] = static_cast<int64_t>(rows), walk.to[0] = 40, walk.from[0] = 32;
  return walk;
}

TEST_P(NetMovesTest, BoxesGoAndComeBack) {
  run([this](MovesRank& self) {
    MovesRank& other = after(self);
    for (const size_t rows : {size_t{20}, size_t{5000}, size_t{50000}}) {  // in a frame, as bulk data, in parts
      const Walk walk = rows_of(rows);
      const std::vector<char> data = noise(rows * 32, self.rank);
      self.puts.put_box(other.rank, 8, data.data(), walk);
      self.ledger.fence();
      std::vector<char> back(rows * 32);
      self.gets.get_box(back.data(), other.rank, 8, walk.turned());
      for (size_t r = 0; r < rows; ++r) {
        ASSERT_EQ(0, std::memcmp(data.data() + r * 32, other.window.at(8 + r * 40), 24));
        ASSERT_EQ(0, std::memcmp(data.data() + r * 32, back.data() + r * 32, 24));
        ASSERT_EQ(0, back[r * 32 + 24]) << "between rows nothing is written";
      }
    }
  });
}

TEST_P(NetMovesTest, GetsBringWhatIsThere) {
  for (int r = 0; r < ranks_here; ++r) std::memcpy(at(r).window.at(0), noise(as_bulk, r).data(), as_bulk);
  run([this](MovesRank& self) {
    MovesRank& other = after(self);
    const std::vector<char> there = noise(as_bulk, other.rank);
    for (const size_t bytes : {in_frame, as_bulk}) {
      std::vector<char> got(bytes);
      Completion completion;
      self.gets.get(got.data(), other.rank, 0, bytes, completion, nullptr);
      self.channel.await(completion);
      EXPECT_TRUE(equal(there.data(), got));
    }
  });
}

// Rank 0 sends more than a bulk transfer of the wire takes. Eager data and the number of a transfer go in one message.
TEST_P(NetMovesTest, TwoSidedDataGoesWhereTheReceiverSays) {
  constexpr size_t eager = 50000, large = Wire::max_bulk + 5;
  struct Told {
    uint32_t number;
    size_t bytes;
  };
  std::atomic<bool> told[ranks_here] = {};
  Told what[ranks_here];
  std::vector<char> with_it[ranks_here];
  for (int r = 0; r < ranks_here; ++r)
    at(r).handle = [&, r](int handler, const void* payload, size_t bytes) {
      EXPECT_EQ(3, handler);
      const char* const data = static_cast<const char*>(payload) + sizeof(Told);
      std::memcpy(&what[r], payload, sizeof(Told));
      with_it[r].assign(data, data + bytes - sizeof(Told));
      told[r].store(true);
    };
  run([&](MovesRank& self) {
    const size_t r = static_cast<size_t>(self.rank);
    const MovesRank &next = after(self), &previous = at((self.rank + 2) % ranks_here);
    std::vector<char> data = noise(as_bulk, self.rank);
    if (self.rank == 0) data.resize(large, 'x');
    Completion sent, received;
    std::optional<uint32_t> number = self.sends.start_send(next.rank, data.data(), data.size(), sent);
    ASSERT_TRUE(number.has_value());
    const Told tell = {*number, data.size()};
    ASSERT_LE(sizeof tell + eager, self.sends.eager_limit());
    self.sends.send(next.rank, 3, {reinterpret_cast<const char*>(&tell), sizeof tell}, {data.data(), eager});
    self.channel.engine().wait([&] { return told[r].load(); });
    std::vector<char> here(what[r].bytes);
    self.sends.start_receive(previous.rank, what[r].number, here.data(), here.size(), received);
    self.channel.await(received);
    self.channel.await(sent);
    std::vector<char> expected = noise(as_bulk, previous.rank);
    if (previous.rank == 0) expected.resize(large, 'x');
    EXPECT_TRUE(expected == here);
    EXPECT_TRUE(equal(expected.data(), with_it[r]));
    EXPECT_EQ(eager, with_it[r].size());
  });
}

TEST_P(NetMovesTest, TheNoteOfAGetRunsBeforeTheHomeReads) {
  at(0).handle = [this](int handler, const void* payload, size_t bytes) {
    EXPECT_EQ(9, handler);
    EXPECT_EQ(3U, bytes);
    std::memcpy(at(0).window.at(0), payload, bytes);
  };
  run([](MovesRank& self) {
    if (self.rank != 1) return;
    const Piggyback note = {9, "abc", 3};
    std::vector<char> got(as_bulk);
    Completion completion;
    self.gets.get(got.data(), 0, 0, as_bulk, completion, &note);
    self.channel.await(completion);
    EXPECT_EQ(0, std::memcmp(got.data(), "abc", 3));
  });
}

TEST_P(NetMovesTest, ADeferredGetIsAnsweredAfterTheBarrier) {
  run([this](MovesRank& self) {
    if (self.rank == 1) {
      std::vector<char> small(in_frame), large(as_bulk);
      Completion completion;
      self.gets.get_deferred(small.data(), 0, 0, small.size(), completion, nullptr);
      self.gets.get_deferred(large.data(), 0, 0, large.size(), completion, nullptr);
      self.channel.send_gathered();
      self.gets.begin_epoch();
      EXPECT_FALSE(self.gets.asked_ahead());
      self.channel.await(completion);
      EXPECT_TRUE(equal(small.data(), noise(in_frame, 0)));
      EXPECT_TRUE(equal(large.data(), noise(as_bulk, 0)));
    }
    if (self.rank == 0) {
      self.channel.engine().wait([&] { return self.gets_seen.load() >= 2; });
      std::memcpy(self.window.at(0), noise(as_bulk, 0).data(), as_bulk);  // what the barrier orders before the answer
      self.gets.begin_epoch();
      EXPECT_TRUE(self.gets.asked_ahead());
      self.gets.begin_epoch();
      EXPECT_FALSE(self.gets.asked_ahead());
    }
  });
}

TEST_P(NetMovesTest, AMessageRunsAfterThePutsThatItNames) {
  std::atomic<int> ran{0};
  at(1).handle = [&](int handler, const void* payload, size_t) {
    uint64_t value = 0, first = 0, last = 0;
    std::memcpy(&value, payload, sizeof value);
    std::memcpy(&first, at(1).window.at(0), sizeof first);
    std::memcpy(&last, at(1).window.at(as_bulk), sizeof last);
    EXPECT_EQ(7, handler);
    EXPECT_LE(value, first);
    EXPECT_LE(value, last);
    ++ran;
  };
  run([&](MovesRank& self) {
    if (self.rank != 0) return;
    for (uint64_t value = 1; value <= 30; ++value) {
      Completion sent;
      std::vector<uint64_t> large(as_bulk / sizeof value, value);
      self.puts.put(1, 0, large.data(), as_bulk, sent);
      self.puts.put(1, as_bulk, &value, sizeof value, sent);
      self.messages.send(1, 7, &value, sizeof value, self.ledger.number_if_only_to(1));
      self.channel.await(sent);
      self.channel.engine().wait([&] { return ran.load() == static_cast<int>(value); });
    }
    self.ledger.fence();
  });
  EXPECT_EQ(30, ran.load());
}

INSTANTIATE_TEST_SUITE_P(Seeds, NetMovesTest, testing::Range(uint64_t{1}, uint64_t{9}));

}  // namespace
}  // namespace hiroba
