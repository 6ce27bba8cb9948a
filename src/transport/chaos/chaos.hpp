// A wrapper that makes rare orders common: operations are delayed, and puts are held back and performed in random
// order at the next fence, all from a seed. A program that is right under it does not lean on luck.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace hiroba {

std::unique_ptr<Transport> make_chaos(std::unique_ptr<Transport> inner, uint64_t seed);

}  // namespace hiroba
