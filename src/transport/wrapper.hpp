// A transport that forwards everything to another one; the base of instruments and fault injection.
//
// Owner: as of every transport; it owns the inner one. Threads: as the inner one's.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace hiroba {

class Wrapper : public Transport, protected OneSided, protected RemoteWords, protected RankBarriers {
 public:
  explicit Wrapper(std::unique_ptr<Transport> inner)
      : OneSided(*inner), RankBarriers(*inner), inner_(std::move(inner)) {
    parts_ = {this, this, this, inner_->two_sided()};
  }
  const char* name() const override { return inner_->name(); }
  std::vector<Capability> capabilities() const override { return inner_->capabilities(); }
  // The inner transport delivers messages to the handlers that were added here.
  Status start(const Config& config) override {
    HIROBA_TRY(Transport::start(config));
    std::copy(std::begin(handlers_), std::end(handlers_), inner_->handlers_);
    return inner_->start(config);
  }
  void stop() override { inner_->stop(); }
  Status attach(uint64_t o, uint64_t n, int r) override { return inner_->attach(o, n, r); }
  void detach(uint64_t o, uint64_t n) override { inner_->detach(o, n); }
  void put(int r, uint64_t to, const void* from, size_t n) override {
    before(Kind::put, n);
    inner_->put(r, to, from, n);
  }
  void get(void* to, int r, uint64_t from, size_t n) override {
    before(Kind::get, n);
    inner_->get(to, r, from, n);
  }
  bool fence() override {
    before(Kind::fence, 0);
    return inner_->fence();
  }
  void send(int r, int h, const void* p, size_t n) override {
    before(Kind::send, n);
    inner_->send(r, h, p, n);
  }
  void send_after_puts(int r, int h, const void* p, size_t n) override {
    before(Kind::send, n);
    inner_->send_after_puts(r, h, p, n);
  }
  bool progress() override { return inner_->progress(); }
  void sleep(double seconds) override { inner_->sleep(seconds); }
  void linger() override { inner_->linger(); }
  char* local_address(int r, uint64_t offset) const override { return inner_->local_address(r, offset); }
  Traffic traffic() const override { return inner_->traffic(); }
  size_t communicator(void* out, size_t room) override { return inner_->communicator(out, room); }
  void faulting(bool inside) override { inner_->faulting(inside); }

 protected:
  enum class Kind { put, get, packed, strided, send, atomic, barrier, fence };
  // Called before each operation of these kinds, with its bytes.
  virtual void before(Kind, size_t) {}

  void put_strided(int r, uint64_t to, const void* from, const Walk& walk) override {
    before(Kind::strided, walk.total());
    inner_->one_sided().put_strided(r, to, from, walk);
  }
  void get_strided(void* to, int r, uint64_t from, const Walk& walk) override {
    before(Kind::strided, walk.total());
    inner_->one_sided().get_strided(to, r, from, walk);
  }
  void start_put(int r, uint64_t to, const void* from, size_t n, Completion& completion) override {
    before(Kind::put, n);
    inner_->one_sided().start_put(r, to, from, n, completion);
  }
  void start_put_packed(int r, std::span<const PackedWord> pieces, Completion& completion) override {
    before(Kind::packed, pieces.size_bytes());
    inner_->one_sided().start_put_packed(r, pieces, completion);
  }
  bool accumulate(int r, uint64_t to, const void* from, Number type, size_t count) override {
    return inner_->one_sided().accumulate(r, to, from, type, count);
  }
  void start_get(void* to, int r, uint64_t from, size_t n, Completion& completion, const Piggyback* p) override {
    before(Kind::get, n);
    inner_->one_sided().start_get(to, r, from, n, completion, p);
  }
  bool defers_gets(int r) const override { return inner_->one_sided().defers_gets(r); }
  void start_deferred_get(void* to, int r, uint64_t from, size_t n, Completion& completion,
                          const Piggyback* p) override {
    before(Kind::get, n);
    inner_->one_sided().start_deferred_get(to, r, from, n, completion, p);
  }
  void await(Completion& completion) override { inner_->one_sided().await(completion); }
  void release_mapping(uint64_t o, uint64_t n) override { inner_->one_sided().release_mapping(o, n); }

  uint64_t perform(int r, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) override {
    before(Kind::atomic, operation == Operation::add64 || operation == Operation::swap64 ? 8 : 4);
    return inner_->words().perform(r, operation, at, operand, expected);
  }
  uint32_t await_change(int r, uint64_t at, uint32_t old, double seconds) override {
    return inner_->words().await_change(r, at, old, seconds);
  }
  void wake(int r, uint64_t at) override { inner_->words().wake(r, at); }

  void start_barrier(uint64_t tag, uint64_t word) override { inner_->barriers().start_barrier(tag, word); }
  Status end_barrier(std::span<uint64_t> words) override {
    before(Kind::barrier, words.size_bytes());
    return inner_->barriers().end_barrier(words);
  }
  Status group_barrier(uint64_t tag, std::span<const int> others) override {
    before(Kind::barrier, 0);
    return inner_->barriers().group_barrier(tag, others);
  }

  Transport& inner() const { return *inner_; }

 private:
  std::unique_ptr<Transport> inner_;
};

}  // namespace hiroba
