#include "transport/trace/trace.hpp"

#include <atomic>

#include "base/log.hpp"
#include "base/text.hpp"
#include "transport/wrapper.hpp"

namespace hiroba {

namespace {

class Trace final : public Wrapper {
 public:
  using Wrapper::Wrapper;

  void stop() override {
    Wrapper::stop();
    for (const Count& c : counts_)
      if (c.calls.load() != 0)
        log_line("trace: %-8s %10lu calls  %s", c.name, c.calls.load(), show_bytes(c.bytes.load()).c_str());
  }

 private:
  void before(Kind kind, size_t bytes) override {
    Count& count = counts_[static_cast<size_t>(kind)];
    count.calls.fetch_add(1, std::memory_order_relaxed);
    count.bytes.fetch_add(bytes, std::memory_order_relaxed);
  }

  struct Count {
    const char* name;
    std::atomic<uint64_t> calls{0}, bytes{0};
  };
  // By Kind.
  Count counts_[8] = {{"put"}, {"get"}, {"packed"}, {"strided"}, {"send"}, {"atomic"}, {"barrier"}, {"fence"}};
};

}  // namespace

std::unique_ptr<Transport> make_trace(std::unique_ptr<Transport> inner) {
  return std::make_unique<Trace>(std::move(inner));
}

}  // namespace hiroba
