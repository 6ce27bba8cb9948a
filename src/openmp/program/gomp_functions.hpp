// The table of what GCC's OpenMP runtime, libgomp, offers to programs: which functions this library replaces, because
// they have to know of all ranks, which it passes on to the libgomp of each rank, and which a program over ranks must
// not call. What is in no row came with a GCC that this table does not know, and must not be called either: libgomp
// would perform it for the threads of one rank, without a word.
//
// Thread-safe: it is constant.
#pragma once

#include <span>
#include <string_view>

namespace hiroba::openmp {

enum class GompKind { replaced, passed_on, refused };

struct GompFunctions {
  std::string_view names;  // is_meant_by() of imports.hpp
  GompKind kind;
  std::string_view why;
};

std::span<const GompFunctions> gomp_table();
// Returns the first row that has the function; null: there is none.
const GompFunctions* gomp_functions(std::string_view name);
// Returns why a program over ranks must not call this function of libgomp; empty if it may.
std::string_view why_not(std::string_view name);

}  // namespace hiroba::openmp
