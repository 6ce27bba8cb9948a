// The reference implementation of the optional part of a transport: it uses the core only.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <vector>

#include "base/debug/whereabouts.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"
#include "transport/wrapper.hpp"

namespace hiroba {

namespace {

enum ReferenceHandler { on_atomic = 0, on_reply = 1, on_arrive = 2, on_verdict = 3 };

enum class Atomic : uint32_t { add64, swap64, add32, swap32 };

struct Reply {
  std::atomic<uint32_t> done{0};
  uint64_t value = 0;
};

struct AtomicRequest {
  Atomic operation;
  uint64_t at, operand, expected;
  Reply* reply;  // meaningful only at the sender
};

struct ReplyMessage {
  Reply* reply;
  uint64_t value;
};

struct Arrival {
  uint64_t sequence, tag, word;
};

// Part of the result of a barrier: words[first..first+count), or two ranks whose tags differ (a < b).
struct Verdict {
  static constexpr int most = 256;
  uint64_t sequence;
  int32_t first, count, a, b;
  uint64_t words[most];
};

// The home performs them, in its handler.
class ReferenceWords final : public RemoteWords {
 public:
  explicit ReferenceWords(Transport& core) : core_(core) {}
  void start(char* base) { base_ = base; }

  uint64_t fetch_add64(int rank, uint64_t at, uint64_t value) override {
    return perform(rank, {Atomic::add64, at, value, 0, nullptr});
  }
  uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) override {
    return perform(rank, {Atomic::swap64, at, desired, expected, nullptr});
  }
  uint32_t fetch_add32(int rank, uint64_t at, uint32_t value) override {
    return static_cast<uint32_t>(perform(rank, {Atomic::add32, at, value, 0, nullptr}));
  }
  uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) override {
    return static_cast<uint32_t>(perform(rank, {Atomic::swap32, at, desired, expected, nullptr}));
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

  void serve(int source, const AtomicRequest& request) {
    char* const at = base_ + request.at;
    uint64_t old = 0;
    auto* word64 = reinterpret_cast<uint64_t*>(at);
    auto* word32 = reinterpret_cast<uint32_t*>(at);
    switch (request.operation) {
      case Atomic::add64: old = std::atomic_ref(*word64).fetch_add(request.operand); break;
      case Atomic::add32: old = std::atomic_ref(*word32).fetch_add(static_cast<uint32_t>(request.operand)); break;
      case Atomic::swap64:
        old = request.expected;
        std::atomic_ref(*word64).compare_exchange_strong(old, request.operand);
        break;
      case Atomic::swap32: {
        uint32_t found = static_cast<uint32_t>(request.expected);
        std::atomic_ref(*word32).compare_exchange_strong(found, static_cast<uint32_t>(request.operand));
        old = found;
      }
    }
    const ReplyMessage reply = {request.reply, old};
    core_.send(source, on_reply, &reply, sizeof reply);
  }

 private:
  uint64_t perform(int rank, const AtomicRequest& request) {
    Reply reply;
    AtomicRequest copy = request;
    copy.reply = &reply;
    core_.send(rank, on_atomic, &copy, sizeof copy);
    Backoff backoff(100);
    while (reply.done.load(std::memory_order_acquire) == 0)
      if (!core_.progress() && !backoff.step()) core_.sleep(0.001);
    return reply.value;
  }

  Transport& core_;
  char* base_ = nullptr;
};

// By messages to rank 0, which compares the tags.
class ReferenceBarriers final : public RankBarriers {
 public:
  explicit ReferenceBarriers(Transport& core) : RankBarriers(core), core_(core) {}
  void start(const Transport::Config& config) {
    config_ = &config;
    for (Generation& g : generation_) {
      const size_t n = static_cast<size_t>(config.job.nranks);
      g.tags.assign(n, 0), g.words.assign(n, 0), g.here.assign(n, false);
    }
  }

  void start_barrier(uint64_t tag, uint64_t word) override {
    core_.fence();
    const Arrival arrival = {sequence_, tag, word};
    if (config_->job.rank == 0) arrive(0, arrival);
    else core_.send(0, on_arrive, &arrival, sizeof arrival);
  }

  Status end_barrier(std::span<uint64_t> words) override {
    const int nranks = config_->job.nranks;
    Generation& g = generation_[sequence_ % 2];
    const double start = seconds_now();
    Backoff backoff(config_->job.spins(config_->threads_per_rank));
    while (g.received < nranks) {
      if (config_->job.rank == 0 && g.arrived == nranks) announce(g);
      else if (!core_.progress() && !config_->advance() && !backoff.step()) core_.sleep(0.001);
      if (config_->timeout > 0 && seconds_now() - start > config_->timeout) {
        std::vector<int> missing;
        for (int r = 0; r < nranks && config_->job.rank == 0; ++r)
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

 private:
  // Two, because a rank may enter the next barrier while others have not left this one.
  struct Generation {
    std::vector<uint64_t> tags, words;
    std::vector<bool> here;
    int arrived = 0;   // at rank 0
    int received = 0;  // words of the result
    int a = -1, b = -1;
  };

  // At rank 0, when all have arrived: sends the result to all.
  void announce(Generation& g) {
    const int n = config_->job.nranks;
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
      for (int r = 1; r < n; ++r) core_.send(r, on_verdict, &verdict, sizeof verdict);
    }
    g.received = n;
  }

  Transport& core_;
  const Transport::Config* config_ = nullptr;
  Generation generation_[2];
  uint64_t sequence_ = 0;
};

}  // namespace

struct Transport::Reference {
  explicit Reference(Transport& core) : one_sided(core), words(core), barriers(core) {}
  OneSided one_sided;
  ReferenceWords words;
  ReferenceBarriers barriers;
};

Transport::Transport() : reference_(std::make_shared<Reference>(*this)) {
  parts_ = {&reference_->one_sided, &reference_->words, &reference_->barriers, nullptr};
}

Status Transport::start(const Config& config) {
  config_ = config;
  reference_->words.start(config.base), reference_->barriers.start(config_);
  handlers_[on_atomic] = {[](void* self, int source, const void* payload, size_t) {
                            static_cast<ReferenceWords*>(self)->serve(source,
                                                                      *static_cast<const AtomicRequest*>(payload));
                          },
                          &reference_->words};
  handlers_[on_reply] = {[](void*, int, const void* payload, size_t) {
                           const auto* message = static_cast<const ReplyMessage*>(payload);
                           message->reply->value = message->value;
                           message->reply->done.store(1, std::memory_order_release);
                         },
                         nullptr};
  handlers_[on_arrive] = {[](void* self, int source, const void* payload, size_t) {
                            static_cast<ReferenceBarriers*>(self)->arrive(source,
                                                                          *static_cast<const Arrival*>(payload));
                          },
                          &reference_->barriers};
  handlers_[on_verdict] = {[](void* self, int, const void* payload, size_t) {
                             static_cast<ReferenceBarriers*>(self)->receive(*static_cast<const Verdict*>(payload));
                           },
                           &reference_->barriers};
  return {};
}

std::vector<Capability> Transport::capabilities() const {
  return {{"strided put and get", false},
          {"packed put", false},
          {"atomics", false},
          {"wait for a word", false},
          {"barrier with words", false}};
}

// ---- one-sided access -----------------------------------------------------------------------------------------------

void OneSided::put_strided(int rank, uint64_t to, const void* from, const Walk& walk) {
  const char* const source = static_cast<const char*>(from);
  if (char* const target = core_.local_address(rank, to); target != nullptr) return copy(target, source, walk);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    core_.put(rank, to + static_cast<uint64_t>(at_to), source + at_from, walk.block);
  });
}

void OneSided::get_strided(void* to, int rank, uint64_t from, const Walk& walk) {
  char* const target = static_cast<char*>(to);
  if (const char* const source = core_.local_address(rank, from); source != nullptr) return copy(target, source, walk);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    core_.get(target + at_to, rank, from + static_cast<uint64_t>(at_from), walk.block);
  });
}

void OneSided::put_packed(int rank, std::span<const PackedWord> pieces) {
  for_each_run(pieces, [&](uint64_t to, const void* data, size_t bytes) { core_.put(rank, to, data, bytes); });
}

void OneSided::start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion&) {
  core_.put(rank, to, from, bytes);
}

void OneSided::start_put_packed(int rank, std::span<const PackedWord> pieces, Completion&) { put_packed(rank, pieces); }

void OneSided::start_get(void* to, int rank, uint64_t from, size_t bytes, Completion&, const Piggyback* piggyback) {
  assert(piggyback == nullptr || core_.local_address(rank, from) != nullptr);
  if (piggyback != nullptr)
    core_.deliver(piggyback->handler, core_.config().job.rank, piggyback->payload, piggyback->bytes);
  core_.get(to, rank, from, bytes);
}

void OneSided::start_deferred_get(void*, int, uint64_t, size_t, Completion&, const Piggyback*) {
  assert(!"a transport that gets ahead says how");
}

// ---- barriers ------------------------------------------------------------------------------------------------------

Status RankBarriers::group_barrier(uint64_t tag, std::span<const int>) {
  std::vector<uint64_t> words(static_cast<size_t>(core_.config().job.nranks));
  return barrier(tag, 0, words);
}

Status RankBarriers::late(std::span<const int> missing) const {
  const Transport::Config& config = core_.config();
  RankBoard& self = config.board->rank(config.job.rank);
  std::string text = format("waited %.3g s (option timeout) in %s, collective call %llu, for ", config.timeout,
                            self.where, static_cast<unsigned long long>(self.calls.load()));
  for (size_t i = 0; i < missing.size() && i < 8; ++i) {
    RankBoard& other = config.board->rank(missing[i]);
    text += format("%srank %d (%s%s)", i == 0 ? "" : ", ", missing[i],
                   other.waiting.load() != 0 ? "waiting in "
                   : other.where[0] == '\0'  ? "not started"
                                             : "computing after ",
                   other.where);
  }
  if (missing.empty()) text += "ranks that have not arrived";
  if (missing.size() > 8) text += format(" and %zu more", missing.size() - 8);
  return Status::error(text);
}

Status RankBarriers::unequal(int a, int b, const std::function<void(int)>& learn) const {
  const Transport::Config& config = core_.config();
  const int self = config.job.rank;
  show_call_place(config.board->rank(self));
  const auto call = [&](int rank) {
    if (rank != self)
      await_call_place(config.board->rank(rank), [&] {
        if (learn) learn(rank);
      });
    return config.board->rank(rank).where;
  };
  return Status::error(
      format("collective calls differ: rank %d is in %s, rank %d is in %s; every rank must make the same calls in "
             "the same order with the same arguments",
             a, call(a), b, call(b)));
}

// The inner transport delivers messages to the handlers that were set here; copied twice, because its start sets its
// own.
Status Wrapper::start(const Config& config) {
  config_ = config;
  const auto hand_down = [this] {
    for (int i = 0; i < max_handlers; ++i)
      if (handlers_[i].function != nullptr) inner_->handlers_[i] = handlers_[i];
  };
  hand_down();
  HIROBA_TRY(inner_->start(config));
  hand_down();
  return {};
}

}  // namespace hiroba
