#include "transport/shm/shm.hpp"

#include <pthread.h>

#include <cassert>
#include <cstring>
#include <deque>

#include "base/wait.hpp"
#include "transport/shm/ring.hpp"
#include "transport/window.hpp"

namespace hiroba {

namespace {

// The transport's part of the board: 2 MiB with this at its start, then one Ring per rank at 1 MiB each.
struct Shared {
  alignas(64) std::atomic<uint64_t> arrivals;    // in all barriers together
  alignas(64) std::atomic<uint32_t> generation;  // barriers completed (futex)
  std::atomic<uint32_t> sleepers;
  std::atomic<uint64_t> unequal;  // 0, or 1 + (a << 32 | b) of two ranks whose tags differ
  struct Word {
    std::atomic<uint64_t> tag, word;
  };
  // Word[2][nranks]: two generations, because a rank may enter the next barrier while others read this one.
  Word& word(uint64_t sequence, int nranks, int r) {
    return reinterpret_cast<Word*>(reinterpret_cast<char*>(this) +
                                   4096)[(sequence % 2) * static_cast<uint64_t>(nranks) + static_cast<uint64_t>(r)];
  }
};

static_assert(sizeof(Ring) <= 1 << 20);

class Shm final : public Transport, OneSided, RemoteWords, RankBarriers {
 public:
  Shm() : OneSided(static_cast<Transport&>(*this)), RankBarriers(static_cast<Transport&>(*this)) {
    parts_.one_sided = this, parts_.words = this, parts_.barriers = this;
  }

  const char* name() const override { return shm_name; }

  std::vector<Capability> capabilities() const override {
    return {{"strided put and get", false},
            {"packed put", true},
            {"atomics", true},
            {"wait for a word", true},
            {"barrier with words", true}};
  }

  Status start(const Config& config) override {
    HIROBA_TRY(Transport::start(config));
    HIROBA_TRY(window_.start(config.extent));
    char* const part = reinterpret_cast<char*>(config.board) + Board::transport_offset(config.job.nranks);
    shared_ = reinterpret_cast<Shared*>(part);
    rings_ = part + (size_t{2} << 20);
    spins_ = config.job.spins(config.threads_per_rank);
    return {};
  }

  void stop() override { window_.stop(); }

  Status attach(uint64_t offset, uint64_t bytes, int rank) override {
    return window_.attach(offset, bytes, config().job.node_fds[config().job.node_of(rank)]);
  }
  void detach(uint64_t offset, uint64_t bytes) override { window_.detach(offset, bytes); }

  void put(int, uint64_t to, const void* from, size_t bytes) override { std::memcpy(window_.at(to), from, bytes); }

  void get(void* to, int, uint64_t from, size_t bytes) override { std::memcpy(to, window_.at(from), bytes); }

  bool fence() override {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return false;
  }

  char* local_address(int, uint64_t offset) const override { return window_.at(offset); }

  void start_put_packed(int, std::span<const PackedWord> pieces, Completion&) override {
    hiroba::scatter(pieces, [this](uint64_t offset) { return window_.at(offset); });
  }

  uint64_t perform(int, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) override {
    return perform_here(window_.at(at), operation, operand, expected);
  }

  uint32_t await_change(int, uint64_t at, uint32_t old, double seconds) override {
    auto& futex = *reinterpret_cast<std::atomic<uint32_t>*>(window_.at(at));
    for (Backoff backoff = Backoff::until_woken(spins_); futex.load() == old && backoff.step();) {
    }
    if (futex.load() == old) futex_wait(futex, old, seconds);
    return futex.load();
  }

  void wake(int, uint64_t at) override { futex_wake_all(*reinterpret_cast<std::atomic<uint32_t>*>(window_.at(at))); }

  void send(int rank, int handler, const void* payload, size_t bytes) override {
    assert(bytes <= max_message);
    Ring& inbox = ring(rank);
    while (!inbox.push(config().job.rank, handler, payload, bytes))
      if (!progress()) Backoff::yield();
    inbox.bell.fetch_add(1);
    if (inbox.sleepers.load() != 0) futex_wake_all(inbox.bell);
    if (inbox.in_barrier.load() != 0) futex_wake_all(shared_->generation);
  }

  // A handler that sends may find the target's inbox full while the target's owner does the same with this one. So this
  // call makes room here by setting messages aside.
  bool progress() override {
    Ring& inbox = ring(config().job.rank);
    if (inbox.consumer.exchange(1, std::memory_order_acquire) != 0)
      return consumer_.load(std::memory_order_relaxed) == pthread_self() && set_aside(inbox);
    consumer_.store(pthread_self(), std::memory_order_relaxed);
    bool any = false;
    while (deliver_one(inbox)) any = true;
    consumer_.store({}, std::memory_order_relaxed);
    inbox.consumer.store(0, std::memory_order_release);
    return any;
  }

  void sleep(double seconds) override {
    Ring& inbox = ring(config().job.rank);
    const uint32_t bell = inbox.bell.load();
    inbox.sleepers.fetch_add(1);
    const uint64_t number = inbox.tail.load();
    if (inbox.slot[number % Ring::slots].turn.load() + number % Ring::slots != number + 1)
      futex_wait(inbox.bell, bell, seconds);
    inbox.sleepers.fetch_sub(1);
  }

  void start_barrier(uint64_t tag, uint64_t word) override {
    const int n = config().job.nranks;
    Shared::Word& mine = shared_->word(sequence_, n, config().job.rank);
    mine.tag.store(tag, std::memory_order_relaxed);
    mine.word.store(word, std::memory_order_relaxed);
    if (shared_->arrivals.fetch_add(1) + 1 != static_cast<uint64_t>(n) * (sequence_ + 1)) return;
    compare_tags(n);
    shared_->generation.store(static_cast<uint32_t>(sequence_ + 1));
    if (shared_->sleepers.load() != 0) futex_wake_all(shared_->generation);
  }

  Status end_barrier(std::span<uint64_t> words) override {
    const int n = config().job.nranks;
    HIROBA_TRY(await_generation(static_cast<uint32_t>(sequence_ + 1)));
    for (int r = 0; r < n; ++r) words[r] = shared_->word(sequence_, n, r).word.load(std::memory_order_relaxed);
    ++sequence_;
    const uint64_t pair = shared_->unequal.load(std::memory_order_relaxed);
    return pair == 0 ? Status() : unequal(static_cast<int>((pair - 1) >> 32), static_cast<int>(pair - 1));
  }

  void release_mapping(uint64_t offset, uint64_t bytes) override { window_.release_mapping(offset, bytes); }

 private:
  Ring& ring(int r) const { return *reinterpret_cast<Ring*>(rings_ + (static_cast<size_t>(r) << 20)); }

  void compare_tags(int n) {
    const uint64_t first = shared_->word(sequence_, n, 0).tag.load(std::memory_order_relaxed);
    for (int r = 1; r < n; ++r)
      if (shared_->word(sequence_, n, r).tag.load(std::memory_order_relaxed) != first)
        shared_->unequal.store(1 + static_cast<uint64_t>(r), std::memory_order_relaxed);
  }

  // Delivers a copy, so that the handler occupies no slot.
  bool deliver_one(Ring& inbox) {
    if (!aside_.empty()) {
      const Aside first = std::move(aside_.front());
      aside_.pop_front();
      deliver(first.handler, first.source, first.payload.data(), first.payload.size());
      return true;
    }
    int handler = 0, source = 0;
    size_t bytes = 0;
    alignas(16) char payload[max_message];
    const bool any = inbox.pop([&](const Ring::Slot& s) {
      handler = s.handler, source = s.source, bytes = s.bytes;
      std::memcpy(payload, s.payload, bytes);
    });
    if (any) deliver(handler, source, payload, bytes);
    return any;
  }

  bool set_aside(Ring& inbox) {
    const size_t before = aside_.size();
    while (inbox.pop(
        [this](const Ring::Slot& s) { aside_.push_back({s.handler, s.source, {s.payload, s.payload + s.bytes}}); })) {
    }
    return aside_.size() > before;
  }

  Status await_generation(uint32_t done) {
    const auto reached = [&] {
      return static_cast<int32_t>(shared_->generation.load(std::memory_order_acquire) - done) >= 0;
    };
    for (Backoff backoff = Backoff::until_woken(spins_); backoff.step();)
      if (reached()) return {};
      else config().advance();
    const double start = seconds_now();
    shared_->sleepers.fetch_add(1);
    std::atomic<uint32_t>& in_barrier = ring(config().job.rank).in_barrier;
    in_barrier.store(1);
    Status status;
    while (!reached() && status.ok()) {
      progress();  // another rank may need a reply from this rank before it arrives here
      if (config().advance()) continue;
      futex_wait(shared_->generation, done - 1, 0.1);
      if (config().timeout > 0 && seconds_now() - start > config().timeout && !reached()) status = late(missing());
    }
    in_barrier.store(0);
    shared_->sleepers.fetch_sub(1);
    return status;
  }

  // Ranks that have entered fewer collective calls than this one.
  std::vector<int> missing() const {
    std::vector<int> ranks;
    const uint64_t calls = config().board->rank(config().job.rank).calls.load();
    for (int r = 0; r < config().job.nranks; ++r)
      if (config().board->rank(r).calls.load() < calls) ranks.push_back(r);
    return ranks;
  }

  struct Aside {
    int handler, source;
    std::vector<char> payload;
  };

  Window window_;
  Shared* shared_ = nullptr;
  char* rings_ = nullptr;
  uint64_t sequence_ = 0;  // barriers made
  int spins_ = 0;
  std::atomic<pthread_t> consumer_{};  // the thread that reads this rank's ring
  std::deque<Aside> aside_;            // messages that it set aside, in order; they precede those of the ring
};

}  // namespace

std::unique_ptr<Transport> make_shm() { return std::make_unique<Shm>(); }

}  // namespace hiroba
