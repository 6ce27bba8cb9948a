#include <array>

#include "transport/chaos/chaos.hpp"
#include "transport/shm/shm.hpp"
#include "transport/trace/trace.hpp"
#include "transport/transport.hpp"

namespace hiroba {

static constexpr std::array registry = {
    TransportEntry{"shm", "memory of this machine; virtual nodes", make_shm},
};

std::span<const TransportEntry> transport_registry() { return registry; }

Status make_transport(const Options& options, std::unique_ptr<Transport>& out) {
  out.reset();
  for (const TransportEntry& entry : registry)
    if (options.text("transport") == entry.name) out = entry.make();
  if (out == nullptr)
    return Status::error(format("no transport '%s' in this build; see hiroba info", options.text("transport").c_str()));
  if (const double seed = options.number("chaos"); seed > 0)
    out = make_chaos(std::move(out), static_cast<uint64_t>(seed));
  if (options.flag("trace")) out = make_trace(std::move(out));
  return {};
}

}  // namespace hiroba
