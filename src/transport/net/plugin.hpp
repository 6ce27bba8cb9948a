// Finding and loading wires. Plug-ins lie in the folder hiroba/ beside libhiroba.so (for a static program: in
// ../lib/hiroba beside the program), or where HIROBA_PLUGINS says. Called at start only, by one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/net/wire.hpp"

namespace hiroba {

// A wire that Hiroba knows of, and why it cannot be had here (empty if it can).
struct WireEntry {
  const char* transport;  // "mpi", "ucx", "gasnet", "armci"
  const char* flavour;    // the MPI that it is or sits on: "openmpi", "mpich", ""
  std::string why_not = {};
  WirePlugin::OneSided one_sided = WirePlugin::never;
  bool accumulates = false;
};

// Looks at all plug-ins without starting them.
std::vector<WireEntry> known_wires();

bool has_plugin(const std::string& transport, const std::string& flavour);

// Loads the plug-in and makes its wire; the process keeps it for good.
Status load_wire(const std::string& transport, const std::string& flavour, std::unique_ptr<Wire>& out);

// The MPI whose library is in this process already ("openmpi", "mpich", or "" for none): the program calls it.
std::string loaded_mpi();

}  // namespace hiroba
