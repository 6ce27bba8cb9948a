// A wrapper that hides everything but the core of a transport, so that the suite tests the reference implementation.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace hiroba {

class CoreOnly final : public Wrapper {
 public:
  using Wrapper::Wrapper;
  const char* name() const override { return "core"; }
  std::vector<Capability> capabilities() const override { return Transport::capabilities(); }
  Status start(const Config& config) override {
    start_reference(config);
    return Wrapper::start(config);
  }
  void put_strided(int r, uint64_t to, const void* from, const Walk& w) override {
    Transport::put_strided(r, to, from, w);
  }
  void get_strided(void* to, int r, uint64_t from, const Walk& w) override { Transport::get_strided(to, r, from, w); }
  void start_put(int r, uint64_t to, const void* from, size_t n, Completion& c) override {
    Transport::start_put(r, to, from, n, c);
  }
  void send_after_puts(int r, int h, const void* p, size_t n) override { Transport::send_after_puts(r, h, p, n); }
  void put_packed(int r, std::span<const PackedWord> p) override { Transport::put_packed(r, p); }
  void start_get(void* to, int r, uint64_t from, size_t n, Completion& c, const Piggyback* note) override {
    Transport::start_get(to, r, from, n, c, note);
  }
  bool defers_gets(int r) const override { return Transport::defers_gets(r); }
  void await(Completion& completion) override { Transport::await(completion); }
  uint64_t fetch_add64(int r, uint64_t at, uint64_t v) override { return Transport::fetch_add64(r, at, v); }
  uint64_t compare_swap64(int r, uint64_t at, uint64_t e, uint64_t d) override {
    return Transport::compare_swap64(r, at, e, d);
  }
  uint32_t fetch_add32(int r, uint64_t at, uint32_t v) override { return Transport::fetch_add32(r, at, v); }
  uint32_t compare_swap32(int r, uint64_t at, uint32_t e, uint32_t d) override {
    return Transport::compare_swap32(r, at, e, d);
  }
  uint32_t await_change(int r, uint64_t at, uint32_t old, double s) override {
    return Transport::await_change(r, at, old, s);
  }
  void wake(int r, uint64_t at) override { Transport::wake(r, at); }
  void start_barrier(uint64_t t, uint64_t w) override { Transport::start_barrier(t, w); }
  Status end_barrier(std::span<uint64_t> ws) override { return Transport::end_barrier(ws); }
  Status group_barrier(uint64_t t, std::span<const int> others) override { return Transport::group_barrier(t, others); }
  void release_mapping(uint64_t o, uint64_t n) override { Transport::release_mapping(o, n); }
};

}  // namespace hiroba
