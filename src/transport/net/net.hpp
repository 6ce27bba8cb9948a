// The network transport: the contract of transport.hpp over a wire. README.md tells what ranks say to each other.
#pragma once

#include <memory>

#include "transport/transport.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

// Joins the job over the wire that the options ask for; collective.
Status make_net(const Options& options, Job& job, std::unique_ptr<Transport>& out);
// What it can do over a wire that has these.
std::vector<Capability> net_capabilities(WirePlugin::OneSided one_sided, bool accumulates);

}  // namespace hiroba
