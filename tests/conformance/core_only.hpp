// A wrapper that hides everything but the core of a transport, so that the suite tests the reference implementation.
#pragma once

#include <memory>
#include <vector>

#include "transport/wrapper.hpp"

namespace hiroba {

class CoreOnly final : public Wrapper {
 public:
  explicit CoreOnly(std::unique_ptr<Transport> inner) : Wrapper(std::move(inner), true) {}
  const char* name() const override { return "core"; }
  std::vector<Capability> capabilities() const override { return Transport::capabilities(); }
  Status start(const Config& config) override {
    HIROBA_TRY(Transport::start(config));
    return Wrapper::start(config);
  }
  void send_after_puts(int r, int h, const void* p, size_t n) override { Transport::send_after_puts(r, h, p, n); }
};

}  // namespace hiroba
