#include "transport/mpi/mpi_wire.hpp"

namespace hiroba {

static Wire* make() { return new MpiWire; }
static constexpr WirePlugin plugin = {HIROBA_VERSION, "mpi", make};

}  // namespace hiroba

extern "C" __attribute__((visibility("default"))) const hiroba::WirePlugin* HIROBA_WIRE_PLUGIN() {
  return &hiroba::plugin;
}
