// A wire for option chaos that delays frames and ends of transfers and delivers them in random order, from a seed. It
// tests that nothing in the network transport depends on their order.
#pragma once

#include <memory>

#include "transport/wire/wire.hpp"

namespace hiroba {

std::unique_ptr<Wire> make_chaos_wire(std::unique_ptr<Wire> inner, uint64_t seed);

}  // namespace hiroba
