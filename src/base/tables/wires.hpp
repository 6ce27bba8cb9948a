// The wires of this source tree, whether or not their libraries were there when it was built: what the lines
// hiroba_wire() of src/CMakeLists.txt say. Constant.
#pragma once

#include <hiroba_wires.inc>

#include <initializer_list>
#include <string>
#include <string_view>

namespace hiroba {

struct WireKind {
  const char* transport;  // its name, as option transport has it
  const char* summary;
  std::initializer_list<const char*> mpis;  // a plug-in for each MPI that it is or sits on; "": one, which needs none

  bool sits_on_mpi() const { return **mpis.begin() != '\0'; }
  std::string plugin_file(std::string_view mpi) const {
    return std::string("wire-") + transport + (mpi.empty() ? "" : "-") + std::string(mpi) + ".so";
  }
};

inline constexpr WireKind wire_kinds[] = {HIROBA_WIRE_KINDS};

// Null if the transport is no wire's.
const WireKind* find_wire(std::string_view transport);

// Where plug-ins and agents lie, for a program of this installation: beside its folder bin, in the folder of libraries
// that CMake was given, or, in a build folder, in lib.
std::string library_folder();

}  // namespace hiroba
