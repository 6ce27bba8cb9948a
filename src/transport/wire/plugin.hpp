// Finding and loading wires. Plug-ins lie in the folder hiroba/ beside libhiroba.so (for a static program: in
// library_folder()), or where HIROBA_PLUGINS says. Called at start only, by one thread.
#pragma once

#include <memory>
#include <string>

#include "base/tables/wires.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

// What a plug-in says that it can do (no more of `out` may be used, because it is unloaded again); returns why it
// cannot be had here, or nothing.
std::string look_at_plugin(const WireKind& kind, const std::string& mpi, WirePlugin& out);

bool has_plugin(const WireKind& kind, const std::string& mpi);

// Loads the plug-in and makes its wire; the process keeps it for good.
Status load_wire(const WireKind& kind, const std::string& mpi, std::unique_ptr<Wire>& out);

// The name of the MPI whose library is in this process already, or "": the program calls it.
std::string loaded_mpi();

}  // namespace hiroba
