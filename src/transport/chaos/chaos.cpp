#include "transport/chaos/chaos.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/wait.hpp"
#include "transport/wrapper.hpp"

namespace hiroba {

namespace {

class Chaos final : public Wrapper {
 public:
  Chaos(std::unique_ptr<Transport> inner, uint64_t seed) : Wrapper(std::move(inner)), state_(seed) {}

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
    Wrapper::put(rank, to, from, bytes);
  }

  bool fence() override {
    release();
    return Wrapper::fence();
  }

  void send_after_puts(int rank, int handler, const void* payload, size_t bytes) override {
    release();
    Wrapper::send_after_puts(rank, handler, payload, bytes);
  }

  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) override {
    delay();
    const uint32_t now = Wrapper::await_change(rank, at, old, seconds);
    delay();
    return now;
  }

  void start_barrier(uint64_t tag, uint64_t word) override {
    delay();
    release();
    Wrapper::start_barrier(tag, word);
  }

  Status end_barrier(std::span<uint64_t> words) override {
    const Status status = Wrapper::end_barrier(words);
    delay();
    return status;
  }

  Status group_barrier(uint64_t tag, std::span<const int> others) override {
    release();
    return Wrapper::group_barrier(tag, others);
  }

 private:
  void before(Kind kind, size_t) override {
    if (kind != Kind::fence) delay();
  }

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
      inner().put(h.rank, h.to, h.bytes.data(), h.size);
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
