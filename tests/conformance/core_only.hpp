// A wrapper that hides everything but the core of a transport, so that the suite tests it.
#pragma once

#include <memory>
#include <vector>

#include "conformance/by_messages.hpp"
#include "transport/wrapper.hpp"

namespace hiroba {

class CoreOnly final : public Wrapper {
 public:
  explicit CoreOnly(std::unique_ptr<Transport> inner) : Wrapper(std::move(inner)) {
    parts_ = {&one_sided_, &words_, &barriers_, nullptr};
  }
  const char* name() const override { return "core"; }
  std::vector<Capability> capabilities() const override { return {}; }
  Status start(const Config& config) override {
    words_.start(config.base);
    barriers_.start(config);
    return Wrapper::start(config);
  }
  void send_after_puts(int r, int h, const void* p, size_t n) override { Transport::send_after_puts(r, h, p, n); }

 private:
  OneSided one_sided_{static_cast<Transport&>(*this)};
  WordsByMessages words_{*this};
  BarriersByMessages barriers_{*this};
};

}  // namespace hiroba
