// The reference implementation of the optional part of a transport: it uses the core only.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <vector>

#include "base/debug/whereabouts.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"
#include "transport/transport.hpp"

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

}  // namespace

struct Transport::Reference {
  Transport* owner;
  Config config;
  // Two generations, because a rank may enter the next barrier while others have not left this one.
  struct Generation {
    std::vector<uint64_t> tags, words;
    std::vector<bool> here;
    int arrived = 0;   // at rank 0
    int received = 0;  // words of the result
    int a = -1, b = -1;
  } generation[2];
  uint64_t sequence = 0;

  void serve_atomic(int source, const AtomicRequest& request) {
    char* const at = config.base + request.at;
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
    owner->send(source, on_reply, &reply, sizeof reply);
  }

  uint64_t perform(int rank, const AtomicRequest& request) {
    Reply reply;
    AtomicRequest copy = request;
    copy.reply = &reply;
    owner->send(rank, on_atomic, &copy, sizeof copy);
    Backoff backoff(100);
    while (reply.done.load(std::memory_order_acquire) == 0)
      if (!owner->progress() && !backoff.step()) owner->sleep(0.001);
    return reply.value;
  }

  void arrive(int source, const Arrival& arrival) {
    Generation& g = generation[arrival.sequence % 2];
    g.tags[static_cast<size_t>(source)] = arrival.tag;
    g.words[static_cast<size_t>(source)] = arrival.word;
    g.here[static_cast<size_t>(source)] = true;
    ++g.arrived;
  }

  // At rank 0, when all have arrived: sends the result to all.
  void announce(Generation& g) {
    const int n = config.job.nranks;
    for (int r = 1; r < n && g.b < 0; ++r)
      if (g.tags[static_cast<size_t>(r)] != g.tags[0]) g.a = 0, g.b = r;
    Verdict verdict;
    verdict.sequence = sequence;
    verdict.a = g.a, verdict.b = g.b;
    for (int first = 0; first < n; first += Verdict::most) {
      verdict.first = first;
      verdict.count = std::min(Verdict::most, n - first);
      std::memcpy(verdict.words, &g.words[static_cast<size_t>(first)],
                  sizeof(uint64_t) * static_cast<size_t>(verdict.count));
      for (int r = 1; r < n; ++r) owner->send(r, on_verdict, &verdict, sizeof verdict);
    }
    g.received = n;
  }

  void receive(const Verdict& verdict) {
    Generation& g = generation[verdict.sequence % 2];
    g.a = verdict.a, g.b = verdict.b;
    std::memcpy(&g.words[static_cast<size_t>(verdict.first)], verdict.words,
                sizeof(uint64_t) * static_cast<size_t>(verdict.count));
    g.received += verdict.count;
  }

  void reset(Generation& g) {
    g.arrived = g.received = 0;
    g.a = g.b = -1;
    std::fill(g.here.begin(), g.here.end(), false);
  }
};

void Transport::start_reference(const Config& config) {
  config_ = config;
  reference_ = std::make_shared<Reference>();
  reference_->owner = this;
  reference_->config = config;
  for (Reference::Generation& g : reference_->generation) {
    const size_t n = static_cast<size_t>(config.job.nranks);
    g.tags.assign(n, 0), g.words.assign(n, 0), g.here.assign(n, false);
  }
  handlers_[on_atomic] = {[](void* self, int source, const void* payload, size_t) {
                            static_cast<Reference*>(self)->serve_atomic(source,
                                                                        *static_cast<const AtomicRequest*>(payload));
                          },
                          reference_.get()};
  handlers_[on_reply] = {[](void*, int, const void* payload, size_t) {
                           const auto* message = static_cast<const ReplyMessage*>(payload);
                           message->reply->value = message->value;
                           message->reply->done.store(1, std::memory_order_release);
                         },
                         reference_.get()};
  handlers_[on_arrive] = {[](void* self, int source, const void* payload, size_t) {
                            static_cast<Reference*>(self)->arrive(source, *static_cast<const Arrival*>(payload));
                          },
                          reference_.get()};
  handlers_[on_verdict] = {[](void* self, int, const void* payload, size_t) {
                             static_cast<Reference*>(self)->receive(*static_cast<const Verdict*>(payload));
                           },
                           reference_.get()};
}

std::vector<Capability> Transport::capabilities() const {
  return {{"strided put and get", false},
          {"packed put", false},
          {"atomics", false},
          {"wait for a word", false},
          {"barrier with words", false}};
}

// ---- operations that a transport may override ----------------------------------------------------------------------

void Transport::put_strided(int rank, uint64_t to, const void* from, const Walk& walk) {
  const char* const source = static_cast<const char*>(from);
  if (char* const target = local_address(rank, to); target != nullptr) return copy(target, source, walk);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    put(rank, to + static_cast<uint64_t>(at_to), source + at_from, walk.block);
  });
}

void Transport::get_strided(void* to, int rank, uint64_t from, const Walk& walk) {
  char* const target = static_cast<char*>(to);
  if (const char* const source = local_address(rank, from); source != nullptr) return copy(target, source, walk);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    get(target + at_to, rank, from + static_cast<uint64_t>(at_from), walk.block);
  });
}

void Transport::put_packed(int rank, std::span<const PackedWord> pieces) {
  for_each_run(pieces, [&](uint64_t to, const void* data, size_t bytes) { put(rank, to, data, bytes); });
}

void Transport::start_get(void* to, int rank, uint64_t from, size_t bytes, Completion&, const Piggyback* piggyback) {
  assert(piggyback == nullptr || local_address(rank, from) != nullptr);
  if (piggyback != nullptr) deliver(piggyback->handler, config_.job.rank, piggyback->payload, piggyback->bytes);
  get(to, rank, from, bytes);
}

bool Transport::defers_gets(int) const { return false; }

void Transport::start_deferred_get(void*, int, uint64_t, size_t, Completion&, const Piggyback*) {
  assert(!"a transport that gets ahead says how");
}

void Transport::await(Completion&) {}
bool Transport::accumulate(int, uint64_t, const void*, Number, size_t) { return false; }

char* Transport::local_address(int, uint64_t) const { return nullptr; }
Transport::Traffic Transport::traffic() const { return {}; }
size_t Transport::communicator(void*, size_t) { return 0; }
void Transport::faulting(bool) {}

uint64_t Transport::fetch_add64(int rank, uint64_t at, uint64_t value) {
  return reference_->perform(rank, {Atomic::add64, at, value, 0, nullptr});
}
uint64_t Transport::compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) {
  return reference_->perform(rank, {Atomic::swap64, at, desired, expected, nullptr});
}
uint32_t Transport::fetch_add32(int rank, uint64_t at, uint32_t value) {
  return static_cast<uint32_t>(reference_->perform(rank, {Atomic::add32, at, value, 0, nullptr}));
}
uint32_t Transport::compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) {
  return static_cast<uint32_t>(reference_->perform(rank, {Atomic::swap32, at, desired, expected, nullptr}));
}

uint32_t Transport::await_change(int rank, uint64_t at, uint32_t old, double seconds) {
  const double deadline = seconds_now() + seconds;
  double pause = 1e-6;
  for (;;) {
    const uint32_t now = fetch_add32(rank, at, 0);
    if (now != old || seconds_now() >= deadline) return now;
    sleep(pause);
    progress();
    pause = std::min(pause * 2, 1e-3);
  }
}

void Transport::wake(int, uint64_t) {}
void Transport::release_mapping(uint64_t, uint64_t) {}

void Transport::start_barrier(uint64_t tag, uint64_t word) {
  fence();
  const Arrival arrival = {reference_->sequence, tag, word};
  if (config_.job.rank == 0) reference_->arrive(0, arrival);
  else send(0, on_arrive, &arrival, sizeof arrival);
}

Status Transport::end_barrier(std::span<uint64_t> words) {
  Reference& reference = *reference_;
  const Config& config = config_;
  Reference::Generation& g = reference.generation[reference.sequence % 2];
  const double start = seconds_now();
  Backoff backoff(config.job.spins(config.threads_per_rank));
  while (g.received < config.job.nranks) {
    if (config.job.rank == 0 && g.arrived == config.job.nranks) reference.announce(g);
    else if (!progress() && !config.advance() && !backoff.step()) sleep(0.001);
    if (config.timeout > 0 && seconds_now() - start > config.timeout) {
      std::vector<int> missing;
      for (int r = 0; r < config.job.nranks && config.job.rank == 0; ++r)
        if (!g.here[static_cast<size_t>(r)]) missing.push_back(r);
      return late(config, missing);
    }
  }
  const int a = g.a, b = g.b;
  std::copy(g.words.begin(), g.words.end(), words.begin());
  reference.reset(g);
  ++reference.sequence;
  return b < 0 ? Status() : unequal(config, a, b);
}

Status Transport::group_barrier(uint64_t tag, std::span<const int>) {
  std::vector<uint64_t> words(static_cast<size_t>(config_.job.nranks));
  return barrier(tag, 0, words);
}

Status Transport::late(const Config& config, std::span<const int> missing) const {
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

Status Transport::unequal(const Config& config, int a, int b, const std::function<void(int)>& learn) const {
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
