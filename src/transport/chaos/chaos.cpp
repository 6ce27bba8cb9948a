#include "transport/chaos/chaos.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/wait.hpp"
#include "transport/wrapper.hpp"

namespace hiroba {

namespace {

class Chaos final : public Wrapper, OneSided, RemoteWords, RankBarriers {
 public:
  Chaos(std::unique_ptr<Transport> inner, uint64_t seed)
      : Wrapper(std::move(inner)), OneSided(this->inner()), RankBarriers(this->inner()), state_(seed) {
    parts_.one_sided = this, parts_.words = this, parts_.barriers = this;
  }

  Status start(const Config& config) override {
    state_ = state_ * 1000003 + static_cast<uint64_t>(config.job.rank);
    return Wrapper::start(config);
  }

  void stop() override {
    fence();
    Wrapper::stop();
  }

  void put(int rank, uint64_t to, const void* from, size_t bytes) override {
    if (bytes <= Held::most && random() % 4 != 0 && hold(rank, to, from, bytes)) return;
    delay();
    Wrapper::put(rank, to, from, bytes);
  }

  void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& completion) override {
    delay();
    inner().one_sided().start_put(rank, to, from, bytes, completion);
  }

  void get(void* to, int rank, uint64_t from, size_t bytes) override {
    delay();
    Wrapper::get(to, rank, from, bytes);
  }

  void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                 const Piggyback* piggyback) override {
    delay();
    inner().one_sided().start_get(to, rank, from, bytes, completion, piggyback);
  }

  void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                          const Piggyback* piggyback) override {
    delay();
    inner().one_sided().start_deferred_get(to, rank, from, bytes, completion, piggyback);
  }

  bool fence() override {
    release();
    return Wrapper::fence();
  }

  void send(int rank, int handler, const void* payload, size_t bytes) override {
    delay();
    Wrapper::send(rank, handler, payload, bytes);
  }

  void send_after_puts(int rank, int handler, const void* payload, size_t bytes) override {
    delay();
    release();
    Wrapper::send_after_puts(rank, handler, payload, bytes);
  }

  void put_packed(int rank, std::span<const PackedWord> pieces) override {
    delay();
    inner().one_sided().put_packed(rank, pieces);
  }

  void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& completion) override {
    delay();
    inner().one_sided().start_put_packed(rank, pieces, completion);
  }

  void put_strided(int rank, uint64_t to, const void* from, const Walk& walk) override {
    inner().one_sided().put_strided(rank, to, from, walk);
  }
  void get_strided(void* to, int rank, uint64_t from, const Walk& walk) override {
    inner().one_sided().get_strided(to, rank, from, walk);
  }
  bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count) override {
    return inner().one_sided().accumulate(rank, to, from, type, count);
  }
  bool defers_gets(int rank) const override { return inner().one_sided().defers_gets(rank); }
  void await(Completion& completion) override { inner().one_sided().await(completion); }
  void release_mapping(uint64_t offset, uint64_t bytes) override { inner().one_sided().release_mapping(offset, bytes); }

  uint64_t fetch_add64(int rank, uint64_t at, uint64_t value) override {
    delay();
    return inner().words().fetch_add64(rank, at, value);
  }

  uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) override {
    delay();
    return inner().words().compare_swap64(rank, at, expected, desired);
  }

  uint32_t fetch_add32(int rank, uint64_t at, uint32_t value) override {
    delay();
    return inner().words().fetch_add32(rank, at, value);
  }

  uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) override {
    delay();
    return inner().words().compare_swap32(rank, at, expected, desired);
  }

  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) override {
    delay();
    const uint32_t now = inner().words().await_change(rank, at, old, seconds);
    delay();
    return now;
  }

  void wake(int rank, uint64_t at) override { inner().words().wake(rank, at); }

  void start_barrier(uint64_t tag, uint64_t word) override {
    delay();
    release();
    inner().barriers().start_barrier(tag, word);
  }

  Status end_barrier(std::span<uint64_t> words) override {
    delay();
    const Status status = inner().barriers().end_barrier(words);
    delay();
    return status;
  }

  Status group_barrier(uint64_t tag, std::span<const int> others) override {
    delay();
    release();
    return inner().barriers().group_barrier(tag, others);
  }

 private:
  struct Held {
    static constexpr size_t most = 512;
    int rank;
    uint64_t to;
    size_t size;
    std::array<char, most> bytes;
  };

  // Performs held puts in random order.
  void release() {
    lock_.lock();
    while (held_count_ > 0) {
      std::swap(held_[random() % held_count_], held_[held_count_ - 1]);
      const Held& h = held_[--held_count_];
      Wrapper::put(h.rank, h.to, h.bytes.data(), h.size);
    }
    lock_.unlock();
  }

  uint64_t random() {
    uint64_t z = state_.fetch_add(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  void delay() {
    const uint64_t r = random();
    if (r % 16 == 0) usleep(static_cast<useconds_t>(r / 16 % 100));
    else if (r % 4 == 0) sched_yield();
  }

  bool hold(int rank, uint64_t to, const void* from, size_t bytes) {
    lock_.lock();
    const bool room = held_count_ < held_.size();
    if (room) {
      Held& h = held_[held_count_++];
      h.rank = rank, h.to = to, h.size = bytes;
      std::memcpy(h.bytes.data(), from, bytes);
    }
    lock_.unlock();
    return room;
  }

  std::atomic<uint64_t> state_;
  SignalSafeLock lock_;  // guards the next members
  std::array<Held, 64> held_;
  size_t held_count_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_chaos(std::unique_ptr<Transport> inner, uint64_t seed) {
  return std::make_unique<Chaos>(std::move(inner), seed);
}

}  // namespace hiroba
