#include "transport/mpi/mpi_wire.hpp"

namespace hiroba {

HIROBA_WIRE_PLUGIN(MpiWire)

}  // namespace hiroba
