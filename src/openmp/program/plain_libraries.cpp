#include "openmp/program/plain_libraries.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/log.hpp"
#include "openmp/program/imports.hpp"
#include "openmp/program/libraries.hpp"
#include "openmp/program/runtime.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

struct Addresses {
  uint64_t begin = 0, end = 0;
};

// The dynamic linker writes there when a function is first called.
Addresses table_of_calls(const dl_phdr_info& object) {
  Addresses table;
  uint64_t calls = 0;
  for (const ElfW(Dyn)* entry = table_of(object).entries; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_PLTGOT) table.begin = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) calls = entry->d_un.d_val / sizeof(ElfW(Rela));
  }
  constexpr uint64_t reserved = 3;
  table.end = table.begin + (reserved + calls) * sizeof(void*);
  return table;
}

}  // namespace

// The program, and each library, come before those that they are linked with. Those that others have loaded, as
// transports are, main does not know.
bool PlainLibraries::Search::finds(const dl_phdr_info& object) {
  const std::string_view file = object.dlpi_name;
  const bool is_program = file.empty();
  const bool is_linked = std::ranges::find(names, file.substr(file.rfind('/') + 1)) != names.end();
  const bool is_found = is_linked && is_of_project(object);
  if (is_program || is_found || (is_linked && instance<Libraries>().has(object)))
    for (const std::string_view name : table_of(object).needed()) names.push_back(name.substr(name.rfind('/') + 1));
  return is_found;
}

bool PlainLibraries::Part::has_changed() const { return std::memcmp(begin, before.data(), before.size()) != 0; }

int PlainLibraries::add(dl_phdr_info* object, size_t, void* argument) {
  constexpr uint64_t most = 1 << 20;
  auto& search = *static_cast<Search*>(argument);
  if (!search.finds(*object)) return 0;
  const Program program = program_of(*object);
  const Addresses calls = table_of_calls(*object);
  const uint64_t end = std::min(program.end, program.data + most);
  const bool divides = calls.begin >= program.data && calls.end <= end;
  Library library = {object->dlpi_name, {}};
  const auto add = [&library](uint64_t from, uint64_t to) {
    const auto* const begin = reinterpret_cast<const char*>(from);  // NOLINT(performance-no-int-to-ptr)
    if (from < to) library.parts.push_back({begin, std::string(begin, to - from)});
  };
  add(program.data, divides ? calls.begin : end);
  if (divides) add(calls.end, end);
  search.found.push_back(std::move(library));
  return 0;
}

void PlainLibraries::begin() {
  Search search = {libraries_, {}};
  dl_iterate_phdr(add, &search);
}

void PlainLibraries::look() {
  if (libraries_.empty() || !std::has_single_bit(++regions_)) return;
  const InRuntime runtime;
  std::erase_if(libraries_, [](const Library& library) {
    if (std::ranges::none_of(library.parts, &Part::has_changed)) return false;
    log_line(
        "main has changed variables of %s, which are each rank's own: regions do not see that in other ranks; link "
        "the library by hirobacc -fopenmp-nodes -shared, or its objects into the program",
        library.file.c_str());
    return true;
  });
}

}  // namespace hiroba::openmp
