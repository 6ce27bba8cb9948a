// The network transport over a wire whose library has one-sided operations on the memory of nodes (node_memory.hpp):
// what programs put, get and accumulate goes by these. What the page cache does goes by messages still, because a home
// has to hear of it: notes, differences, gets ahead of an exchange.
//
// Threads: as for the transport.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace hiroba {

class Net;

// The transport itself if its wire has no such operations.
std::unique_ptr<Transport> with_one_sided(std::unique_ptr<Net> net);

// What the transport of this name can do with the plug-ins that are here; nothing is started.
std::vector<Capability> capabilities_over(const char* transport);

}  // namespace hiroba
