// The network transport: the contract of transport.hpp over a wire. README.md describes its protocol.
#pragma once

#include <memory>

#include "transport/transport.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

// Joins the job over the wire with this name; collective.
Status make_net(const std::string& name, const Options& options, Job& job, std::unique_ptr<Transport>& out);
// Returns the network transport's capabilities over a wire with these properties.
std::vector<Capability> net_capabilities(WirePlugin::OneSided one_sided, bool accumulates);

}  // namespace hiroba
