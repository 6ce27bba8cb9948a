// Ranks over a fake network, in threads of one process: frames and ends of transfers are handed on in random order and
// late, by a seed. What a part of the network transport gets wrong there, it gets wrong in a test of milliseconds.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "transport/wire/channel.hpp"

namespace hiroba {

class FakeNetwork {
 public:
  FakeNetwork(int ranks, uint64_t seed) : wires_(static_cast<size_t>(ranks)) {
    for (int r = 0; r < ranks; ++r) wires_[static_cast<size_t>(r)] = std::make_unique<FakeWire>(*this, r, seed);
  }
  Wire& wire(int rank) { return *wires_[static_cast<size_t>(rank)]; }

 private:
  class FakeWire;
  struct Event {
    int source;  // of a frame; else -1, and it is the end of a transfer
    uint64_t ticket;
    std::vector<uint64_t> frame;
    size_t size;
  };
  struct Bulk {
    int from, to;
    uint32_t tag;
    char* data;
    size_t bytes;
    uint64_t ticket;
  };

  class FakeWire final : public Wire {
   public:
    FakeWire(FakeNetwork& network, int rank, uint64_t seed)
        : network_(network), rank_(rank), random_(seed * 1000 + static_cast<uint64_t>(rank)) {}
    std::string describe() const override { return "fake"; }
    Status open(const Start& start) override {
      hooks_ = start.hooks, largest_frame = most_in_frame;
      return {};
    }
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(network_.wires_.size()); }
    Status allgather(const void*, void*, size_t) override { return Status::error("not here"); }
    void close(bool) override {}
    bool send(int to, const void* frame, size_t size) override {
      const std::lock_guard guard(network_.lock_);
      if (random_() % 8 == 0) return false;  // no room just now
      Event event = {rank_, 0, std::vector<uint64_t>((size + 7) / 8), size};
      std::memcpy(event.frame.data(), frame, size);
      network_.wires_[static_cast<size_t>(to)]->events_.push_back(std::move(event));
      return true;
    }
    void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override {
      const std::lock_guard guard(network_.lock_);
      network_.sends_.push_back({rank_, to, tag, static_cast<char*>(const_cast<void*>(data)), bytes, ticket});
    }
    void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override {
      const std::lock_guard guard(network_.lock_);
      network_.receives_.push_back({from, rank_, tag, static_cast<char*>(data), bytes, ticket});
    }
    bool poll() override {
      std::vector<Event> chosen;
      {
        const std::lock_guard guard(network_.lock_);
        network_.match();
        for (size_t tries = events_.size(); tries > 0; --tries) {
          std::swap(events_[random_() % events_.size()], events_.back());
          if (random_() % 2 == 0) continue;
          chosen.push_back(std::move(events_.back()));
          events_.pop_back();
        }
      }
      for (const Event& event : chosen)
        if (event.source < 0) hooks_.done(hooks_.context, event.ticket);
        else hooks_.frame(hooks_.context, event.source, event.frame.data(), event.size);
      return !chosen.empty();
    }

   private:
    friend class FakeNetwork;
    FakeNetwork& network_;
    const int rank_;
    std::mt19937_64 random_;
    Hooks hooks_ = {};
    std::vector<Event> events_;
  };

  void match() {
    for (size_t s = 0; s < sends_.size();) {
      const Bulk send = sends_[s];
      const auto receive = std::find_if(receives_.begin(), receives_.end(), [&](const Bulk& r) {
        return r.from == send.from && r.to == send.to && r.tag == send.tag;
      });
      if (receive == receives_.end()) {
        ++s;
        continue;
      }
      EXPECT_EQ(send.bytes, receive->bytes);
      std::memcpy(receive->data, send.data, send.bytes);
      wires_[static_cast<size_t>(send.to)]->events_.push_back({-1, receive->ticket, {}, 0});
      wires_[static_cast<size_t>(send.from)]->events_.push_back({-1, send.ticket, {}, 0});
      receives_.erase(receive);
      sends_.erase(sends_.begin() + static_cast<ptrdiff_t>(s));
    }
  }

  std::mutex lock_;
  std::vector<Bulk> sends_, receives_;
  std::vector<std::unique_ptr<FakeWire>> wires_;
};

// One rank of the network: its channel, and what it does with frames.
class FakeRank {
 public:
  FakeRank(FakeNetwork& network, int rank, int ranks) : rank(rank), keys_({42, 42}, rank, ranks) {
    for (int r = 0; r < ranks; ++r) wire_ranks_.push_back(r);
    Wire& wire = network.wire(rank);
    Wire::Start start;
    start.hooks = {this, on_frame, on_done, nullptr, nullptr};
    EXPECT_TRUE(wire.open(start).ok());
    channel.start(&wire, &keys_, &wire_ranks_);
    Engine::Config config;
    config.wire = &wire;
    config.placement.kind = Placement::Kind::none;
    config.meantime = [](void*) { return false; };
    config.spins = 200;
    config.before_poll = [](void* self) { static_cast<FakeRank*>(self)->channel.outbox().send(); };
    config.after_poll = [](void* self) { return static_cast<FakeRank*>(self)->after_poll_(); };
    config.moving = [](void* self) { return static_cast<FakeRank*>(self)->channel.transfers().moving(); };
    config.context = this;
    EXPECT_TRUE(channel.engine().start(config).ok());
  }
  virtual ~FakeRank() { channel.engine().stop(); }

  const int rank;
  Channel channel;

 protected:
  virtual void serve(int source, const Head& head, const char* payload) = 0;
  virtual bool answer() { return false; }

 private:
  static void on_frame(void* self, int source, const void* bytes, size_t size) {
    FakeRank& me = *static_cast<FakeRank*>(self);
    const auto serve = [&](const Head& head, const char* payload) { me.serve(source, head, payload); };
    EXPECT_TRUE(for_each_frame(bytes, size, me.keys_.from(source), serve));
  }
  static void on_done(void* self, uint64_t ticket) { static_cast<FakeRank*>(self)->channel.transfers().end(ticket); }
  bool after_poll_() {
    const bool any = answer();
    return channel.outbox().retry() || any;
  }
  const PairKeys keys_;
  std::vector<int> wire_ranks_;
};

// Runs body(rank) in a thread for each; who is through goes on serving until all are.
template <typename Rank>
void run_ranks(const std::vector<std::unique_ptr<Rank>>& ranks, const std::function<void(Rank&)>& body) {
  std::atomic<size_t> through{0};
  std::vector<std::thread> threads;
  for (const auto& rank : ranks)
    threads.emplace_back([&] {
      body(*rank);
      through.fetch_add(1);
      rank->channel.engine().wait([&] { return through.load() == ranks.size(); });
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hiroba
