// The wires of this source tree, whether or not their libraries were there at its build. The lines hiroba_wire() of
// src/CMakeLists.txt define them. Constant.
#pragma once

#include <hiroba_wires.inc>

#include <initializer_list>
#include <string>
#include <string_view>

namespace hiroba {

struct WireKind {
  const char* transport;  // its name in option transport
  const char* summary;
  std::initializer_list<const char*> mpis;  // a plug-in for each MPI that it is or uses; "": one, which needs no MPI

  bool sits_on_mpi() const { return **mpis.begin() != '\0'; }
  std::string plugin_file(std::string_view mpi) const {
    return std::string("wire-") + transport + (mpi.empty() ? "" : "-") + std::string(mpi) + ".so";
  }
};

inline constexpr WireKind wire_kinds[] = {HIROBA_WIRE_KINDS};

// Returns null if no wire has this name.
const WireKind* find_wire(std::string_view transport);

// Returns the folder of plug-ins and agents for a program of this installation: in the library folder that CMake was
// given, beside the program's folder bin, or, in a build folder, in lib.
std::string library_folder();

}  // namespace hiroba
