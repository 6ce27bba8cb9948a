// What the executable tells the dynamic linker: the functions of libraries that it calls, and its table for that.
#pragma once

#include <link.h>

#include <initializer_list>
#include <string_view>

namespace hiroba::openmp {

// Returns true if the executable calls one of them, or takes its address.
bool imports(std::initializer_list<std::string_view> names);

// Returns the executable's table, which ends with DT_NULL; null if it has none.
const ElfW(Dyn) * dynamic_entries();

}  // namespace hiroba::openmp
