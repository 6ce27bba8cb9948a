// A wrapper that makes rare orders common: it delays operations, holds puts back and performs them in random order at
// the next fence, all from a seed. A correct program stays correct under it.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace hiroba {

std::unique_ptr<Transport> make_chaos(std::unique_ptr<Transport> inner, uint64_t seed);

}  // namespace hiroba
