// The functions of libraries that the program calls.
#pragma once

#include <initializer_list>
#include <string_view>

namespace hiroba::openmp {

// Returns true if the executable calls one of them, or takes its address.
bool imports(std::initializer_list<std::string_view> names);

}  // namespace hiroba::openmp
