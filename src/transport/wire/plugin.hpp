// Finds and loads wires. Plug-ins are in the folder hiroba/ beside libhiroba.so (for a static program: in
// library_folder()), or in HIROBA_PLUGINS. Called at start only, by one thread.
#pragma once

#include <memory>
#include <string>

#include "base/tables/wires.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

// Writes the plug-in's stated capabilities (only these fields of `out` are valid, because it is unloaded again).
// Returns why it is unavailable here, or empty.
std::string look_at_plugin(const WireKind& kind, const std::string& mpi, WirePlugin& out);

bool has_plugin(const WireKind& kind, const std::string& mpi);

// Loads the plug-in and makes its wire; the process keeps it until its end.
Status load_wire(const WireKind& kind, const std::string& mpi, std::unique_ptr<Wire>& out);

// Returns the name of the MPI whose library is in this process already, because the program calls it; else "".
std::string loaded_mpi();

}  // namespace hiroba
