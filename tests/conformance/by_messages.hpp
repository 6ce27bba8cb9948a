// Words and barriers by messages alone, for transports that have none of their own yet, and so that the suite tests the
// core of those that have.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/wait.hpp"
#include "transport/transport.hpp"

namespace hiroba {

// The home performs them, in its handler.
class WordsByMessages final : public RemoteWords {
 public:
  explicit WordsByMessages(Transport& core) : core_(core) {
    on_request_ = core.add_handler(
        [](void* self, int source, const void* payload, size_t) {
          static_cast<WordsByMessages*>(self)->serve(source, *static_cast<const Request*>(payload));
        },
        this);
    on_reply_ = core.add_handler(
        [](void*, int, const void* payload, size_t) {
          const auto* message = static_cast<const ReplyMessage*>(payload);
          message->reply->value = message->value;
          message->reply->done.store(1, std::memory_order_release);
        },
        nullptr);
  }
  void start(char* base) { base_ = base; }

  uint64_t perform(int rank, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) override {
    Reply reply;
    const Request request = {operation, at, operand, expected, &reply};
    core_.send(rank, on_request_, &request, sizeof request);
    Backoff backoff(100);
    while (reply.done.load(std::memory_order_acquire) == 0)
      if (!core_.progress() && !backoff.step()) core_.sleep(0.001);
    return reply.value;
  }

  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) override {
    const double deadline = seconds_now() + seconds;
    double pause = 1e-6;
    for (;;) {
      const uint32_t now = fetch_add32(rank, at, 0);
      if (now != old || seconds_now() >= deadline) return now;
      core_.sleep(pause);
      core_.progress();
      pause = std::min(pause * 2, 1e-3);
    }
  }
  void wake(int, uint64_t) override {}

 private:
  struct Reply {
    std::atomic<uint32_t> done{0};
    uint64_t value = 0;
  };
  struct Request {
    Operation operation;
    uint64_t at, operand, expected;
    Reply* reply;  // meaningful only at the sender
  };
  struct ReplyMessage {
    Reply* reply;
    uint64_t value;
  };

  void serve(int source, const Request& request) const {
    const uint64_t old = perform_here(base_ + request.at, request.operation, request.operand, request.expected);
    const ReplyMessage reply = {request.reply, old};
    core_.send(source, on_reply_, &reply, sizeof reply);
  }

  Transport& core_;
  int on_request_ = 0, on_reply_ = 0;
  char* base_ = nullptr;
};

// Rank 0 compares the tags, and sends the words.
class BarriersByMessages final : public RankBarriers {
 public:
  explicit BarriersByMessages(Transport& core) : RankBarriers(core), core_(core) {
    on_arrival_ = core.add_handler(
        [](void* self, int source, const void* payload, size_t) {
          static_cast<BarriersByMessages*>(self)->arrive(source, *static_cast<const Arrival*>(payload));
        },
        this);
    on_verdict_ = core.add_handler(
        [](void* self, int, const void* payload, size_t) {
          static_cast<BarriersByMessages*>(self)->receive(*static_cast<const Verdict*>(payload));
        },
        this);
  }
  void start(const Transport::Config& config) {
    config_ = config;
    for (Generation& g : generation_) {
      const size_t n = static_cast<size_t>(config.job.nranks);
      g.tags.assign(n, 0), g.words.assign(n, 0), g.here.assign(n, false);
    }
  }

  void start_barrier(uint64_t tag, uint64_t word) override {
    core_.fence();
    const Arrival arrival = {sequence_, tag, word};
    if (config_.job.rank == 0) arrive(0, arrival);
    else core_.send(0, on_arrival_, &arrival, sizeof arrival);
  }

  Status end_barrier(std::span<uint64_t> words) override {
    const int nranks = config_.job.nranks;
    Generation& g = generation_[sequence_ % 2];
    const double start = seconds_now();
    Backoff backoff(config_.job.spins(config_.threads_per_rank));
    while (g.received < nranks) {
      if (config_.job.rank == 0 && g.arrived == nranks) announce(g);
      else if (!core_.progress() && !config_.advance() && !backoff.step()) core_.sleep(0.001);
      if (config_.timeout > 0 && seconds_now() - start > config_.timeout) {
        std::vector<int> missing;
        for (int r = 0; r < nranks && config_.job.rank == 0; ++r)
          if (!g.here[static_cast<size_t>(r)]) missing.push_back(r);
        return late(missing);
      }
    }
    const int a = g.a, b = g.b;
    std::copy(g.words.begin(), g.words.end(), words.begin());
    g.arrived = g.received = 0;
    g.a = g.b = -1;
    std::fill(g.here.begin(), g.here.end(), false);
    ++sequence_;
    return b < 0 ? Status() : unequal(a, b);
  }

 private:
  struct Arrival {
    uint64_t sequence, tag, word;
  };
  // Part of the result: words[first..first+count), or two ranks whose tags differ (a < b).
  struct Verdict {
    static constexpr int most = 256;
    uint64_t sequence;
    int32_t first, count, a, b;
    uint64_t words[most];
  };
  // Two, because a rank may enter the next barrier while others have not left this one.
  struct Generation {
    std::vector<uint64_t> tags, words;
    std::vector<bool> here;
    int arrived = 0;   // at rank 0
    int received = 0;  // words of the result
    int a = -1, b = -1;
  };

  void arrive(int source, const Arrival& arrival) {
    Generation& g = generation_[arrival.sequence % 2];
    g.tags[static_cast<size_t>(source)] = arrival.tag;
    g.words[static_cast<size_t>(source)] = arrival.word;
    g.here[static_cast<size_t>(source)] = true;
    ++g.arrived;
  }

  void receive(const Verdict& verdict) {
    Generation& g = generation_[verdict.sequence % 2];
    g.a = verdict.a, g.b = verdict.b;
    std::memcpy(&g.words[static_cast<size_t>(verdict.first)], verdict.words,
                sizeof(uint64_t) * static_cast<size_t>(verdict.count));
    g.received += verdict.count;
  }

  // At rank 0, when all have arrived: sends the result to all.
  void announce(Generation& g) {
    const int n = config_.job.nranks;
    for (int r = 1; r < n && g.b < 0; ++r)
      if (g.tags[static_cast<size_t>(r)] != g.tags[0]) g.a = 0, g.b = r;
    Verdict verdict;
    verdict.sequence = sequence_;
    verdict.a = g.a, verdict.b = g.b;
    for (int first = 0; first < n; first += Verdict::most) {
      verdict.first = first;
      verdict.count = std::min(Verdict::most, n - first);
      std::memcpy(verdict.words, &g.words[static_cast<size_t>(first)],
                  sizeof(uint64_t) * static_cast<size_t>(verdict.count));
      for (int r = 1; r < n; ++r) core_.send(r, on_verdict_, &verdict, sizeof verdict);
    }
    g.received = n;
  }

  Transport& core_;
  int on_arrival_ = 0, on_verdict_ = 0;
  Transport::Config config_;
  Generation generation_[2];
  uint64_t sequence_ = 0;
};

}  // namespace hiroba
