// The executable tells the dynamic linker which functions of libraries it calls, in a table that is read here.
#pragma once

#include <link.h>

#include <initializer_list>
#include <string_view>

namespace hiroba::openmp {

// Returns true if the executable calls one of them, or takes its address. A name that ends with "*" stands for all that
// begin so.
bool imports(std::initializer_list<std::string_view> names);

// Returns the executable's table, which ends with DT_NULL; null if it has none.
const ElfW(Dyn) * dynamic_entries();

}  // namespace hiroba::openmp
