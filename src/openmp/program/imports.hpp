// Executables and libraries have a table for the dynamic linker, which tells which functions of libraries they call.
#pragma once

#include <link.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace hiroba::openmp {

// Returns true if the name is the other one, or begins so and the other one ends with "*".
inline bool is_meant_by(std::string_view name, std::string_view names) {
  return names.ends_with('*') ? name.starts_with(names.substr(0, names.size() - 1)) : name == names;
}

// Returns true if the executable calls one of them, or takes its address: is_meant_by().
bool imports(std::initializer_list<std::string_view> names);
// Returns a function of libgomp which the executable, or a library of the program's own, calls or takes the address of,
// and which this library does not replace, for which `wanted` is true; empty: there is none.
std::string_view libgomp_function(bool (*wanted)(std::string_view name));

// Returns true for a library that is not the system's, nor linked by hirobacc -fopenmp-nodes.
bool is_of_project(const dl_phdr_info& object);
// Returns the file of such a library that calls a function of this name; empty: there is none.
std::string_view library_that_calls(std::string_view name);

struct Import {
  std::string_view name;
  void* own;
};
// Whose calls, and uses of variables, are meant. program: the executable's, those of libraries of the program's own,
// and those that the libraries of its languages (C++, Fortran) make for it.
enum class Users { program, libraries };
// Makes what is loaded now use `own` in the place of the functions or variables of these names.
void replace_imports(Users users, std::span<const Import> imports);

struct DynamicTable {
  const ElfW(Dyn) * entries = nullptr;  // ends with DT_NULL; null if there is none
  uint64_t base = 0;                    // where the object lies; addresses of its functions are relative to it
  // Returns the functions of an array by the tags of its address and its bytes.
  std::span<void*> functions(ElfW(Sxword) at, ElfW(Sxword) bytes) const;
  void run_destructors() const;
  // Returns the names of the libraries that it is linked with.
  std::vector<std::string_view> needed() const;
};
// Returns the table of the executable, or of a library, by a part of its file's name.
DynamicTable dynamic_table(std::string_view library = {});
DynamicTable table_of(const dl_phdr_info& object);

}  // namespace hiroba::openmp
