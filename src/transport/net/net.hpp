// The network transport: the contract of transport.hpp over a wire. README.md tells what ranks say to each other.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace hiroba {

// Joins the job over the wire that the options ask for; collective.
Status make_net(const Options& options, Job& job, std::unique_ptr<Transport>& out);
std::vector<Capability> net_capabilities();

}  // namespace hiroba
