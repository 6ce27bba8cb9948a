#include "transport/trace/trace.hpp"

#include <atomic>

#include "base/log.hpp"
#include "base/text.hpp"
#include "transport/wrapper.hpp"

namespace hiroba {

namespace {

class Trace final : public Wrapper, OneSided, RemoteWords, RankBarriers {
 public:
  explicit Trace(std::unique_ptr<Transport> inner)
      : Wrapper(std::move(inner)), OneSided(this->inner()), RankBarriers(this->inner()) {
    parts_.one_sided = this, parts_.words = this, parts_.barriers = this;
  }

  void stop() override {
    Wrapper::stop();
    for (const Count* c : {&put_, &get_, &packed_, &strided_, &send_, &atomic_, &barrier_, &fence_})
      if (c->calls.load() != 0)
        log_line("trace: %-8s %10llu calls  %s", c->name, static_cast<unsigned long long>(c->calls.load()),
                 show_bytes(c->bytes.load()).c_str());
  }

  void put(int rank, uint64_t to, const void* from, size_t bytes) override {
    put_.add(bytes);
    Wrapper::put(rank, to, from, bytes);
  }
  void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& completion) override {
    put_.add(bytes);
    inner().one_sided().start_put(rank, to, from, bytes, completion);
  }
  void get(void* to, int rank, uint64_t from, size_t bytes) override {
    get_.add(bytes);
    Wrapper::get(to, rank, from, bytes);
  }
  bool fence() override {
    fence_.add(0);
    return Wrapper::fence();
  }
  void send(int rank, int handler, const void* payload, size_t bytes) override {
    send_.add(bytes);
    Wrapper::send(rank, handler, payload, bytes);
  }
  void send_after_puts(int rank, int handler, const void* payload, size_t bytes) override {
    send_.add(bytes);
    Wrapper::send_after_puts(rank, handler, payload, bytes);
  }
  void put_packed(int rank, std::span<const PackedWord> pieces) override {
    packed_.add(pieces.size_bytes());
    inner().one_sided().put_packed(rank, pieces);
  }
  void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& completion) override {
    packed_.add(pieces.size_bytes());
    inner().one_sided().start_put_packed(rank, pieces, completion);
  }
  void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                 const Piggyback* piggyback) override {
    get_.add(bytes);
    inner().one_sided().start_get(to, rank, from, bytes, completion, piggyback);
  }
  void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                          const Piggyback* piggyback) override {
    get_.add(bytes);
    inner().one_sided().start_deferred_get(to, rank, from, bytes, completion, piggyback);
  }
  void put_strided(int rank, uint64_t to, const void* from, const Walk& walk) override {
    strided_.add(walk.total());
    inner().one_sided().put_strided(rank, to, from, walk);
  }
  void get_strided(void* to, int rank, uint64_t from, const Walk& walk) override {
    strided_.add(walk.total());
    inner().one_sided().get_strided(to, rank, from, walk);
  }
  bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count) override {
    return inner().one_sided().accumulate(rank, to, from, type, count);
  }
  bool defers_gets(int rank) const override { return inner().one_sided().defers_gets(rank); }
  void await(Completion& completion) override { inner().one_sided().await(completion); }
  void release_mapping(uint64_t offset, uint64_t bytes) override { inner().one_sided().release_mapping(offset, bytes); }
  uint64_t fetch_add64(int rank, uint64_t at, uint64_t value) override {
    atomic_.add(8);
    return inner().words().fetch_add64(rank, at, value);
  }
  uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) override {
    atomic_.add(8);
    return inner().words().compare_swap64(rank, at, expected, desired);
  }
  uint32_t fetch_add32(int rank, uint64_t at, uint32_t value) override {
    atomic_.add(4);
    return inner().words().fetch_add32(rank, at, value);
  }
  uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) override {
    atomic_.add(4);
    return inner().words().compare_swap32(rank, at, expected, desired);
  }
  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) override {
    return inner().words().await_change(rank, at, old, seconds);
  }
  void wake(int rank, uint64_t at) override { inner().words().wake(rank, at); }
  void start_barrier(uint64_t tag, uint64_t word) override { inner().barriers().start_barrier(tag, word); }
  Status end_barrier(std::span<uint64_t> words) override {
    barrier_.add(words.size_bytes());
    return inner().barriers().end_barrier(words);
  }
  Status group_barrier(uint64_t tag, std::span<const int> others) override {
    barrier_.add(0);
    return inner().barriers().group_barrier(tag, others);
  }

 private:
  struct Count {
    const char* name;
    std::atomic<uint64_t> calls{0}, bytes{0};
    void add(size_t n) {
      calls.fetch_add(1, std::memory_order_relaxed);
      bytes.fetch_add(n, std::memory_order_relaxed);
    }
  };

  Count put_{"put"}, get_{"get"}, packed_{"packed"}, strided_{"strided"}, send_{"send"}, atomic_{"atomic"},
      barrier_{"barrier"}, fence_{"fence"};
};

}  // namespace

std::unique_ptr<Transport> make_trace(std::unique_ptr<Transport> inner) {
  return std::make_unique<Trace>(std::move(inner));
}

}  // namespace hiroba
