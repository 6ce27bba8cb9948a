// With option chaos: a wire that hands frames and ends of transfers on later than they come, in random order, from a
// seed. What the network transport says of itself, that nothing depends on their order, is so tested.
#pragma once

#include <memory>

#include "transport/wire/wire.hpp"

namespace hiroba {

std::unique_ptr<Wire> make_chaos_wire(std::unique_ptr<Wire> inner, uint64_t seed);

}  // namespace hiroba
