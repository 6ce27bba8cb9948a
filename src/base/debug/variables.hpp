// Names the variables of this process by its debug information (-g): those outside of functions, those that an OpenMP
// region of GCC shares, and what pointers among them point to.
//
// Allocates and reads files. Not thread-safe.
#pragma once

#include <string>

#include "base/shown.hpp"

namespace hiroba {

struct VariableName {
  std::string variable, element;  // "a", "a[3].x[2]"; of a scalar they are the same; "": not known
};

// An allocated object, if the address is in one: then pointers to its begin name it.
struct AllocatedAt {
  const void* begin = nullptr;
};

// Names the variable of the executable outside of functions, or static one, at an address, or one that points to the
// object.
[[HIROBA_SHOWN]] VariableName variable_at(const void* address, AllocatedAt object = {});

// The same for variables that a region shares: `data` is what GCC has passed to the region's function.
[[HIROBA_SHOWN]] VariableName shared_variable_at(const void* function, const void* data, const void* address,
                                                 AllocatedAt object = {});

}  // namespace hiroba
