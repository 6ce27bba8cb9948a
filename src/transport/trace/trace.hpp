// A wrapper that counts operations and bytes by kind and prints a table when the transport stops.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace hiroba {

std::unique_ptr<Transport> make_trace(std::unique_ptr<Transport> inner);

}  // namespace hiroba
