// A transport that forwards everything to another one; the base of instruments and fault injection.
//
// Owner: as of every transport; it owns the inner one. Threads: as the inner one's.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace hiroba {

// It forwards the core, and hands out the inner one's parts unless `core_only`. One that changes a part hands out its
// own.
class Wrapper : public Transport {
 public:
  explicit Wrapper(std::unique_ptr<Transport> inner, bool core_only = false) : inner_(std::move(inner)) {
    if (!core_only) parts_ = inner_->parts_;
  }
  const char* name() const override { return inner_->name(); }
  std::vector<Capability> capabilities() const override { return inner_->capabilities(); }
  Status start(const Config& config) override;
  void stop() override { inner_->stop(); }
  Status attach(uint64_t o, uint64_t n, int r) override { return inner_->attach(o, n, r); }
  void detach(uint64_t o, uint64_t n) override { inner_->detach(o, n); }
  void put(int r, uint64_t to, const void* from, size_t n) override { inner_->put(r, to, from, n); }
  void get(void* to, int r, uint64_t from, size_t n) override { inner_->get(to, r, from, n); }
  bool fence() override { return inner_->fence(); }
  void send(int r, int h, const void* p, size_t n) override { inner_->send(r, h, p, n); }
  void send_after_puts(int r, int h, const void* p, size_t n) override { inner_->send_after_puts(r, h, p, n); }
  bool progress() override { return inner_->progress(); }
  void sleep(double seconds) override { inner_->sleep(seconds); }
  void linger() override { inner_->linger(); }
  char* local_address(int r, uint64_t offset) const override { return inner_->local_address(r, offset); }
  Traffic traffic() const override { return inner_->traffic(); }
  size_t communicator(void* out, size_t room) override { return inner_->communicator(out, room); }
  void faulting(bool inside) override { inner_->faulting(inside); }

 protected:
  Transport& inner() const { return *inner_; }

 private:
  std::unique_ptr<Transport> inner_;
};

}  // namespace hiroba
