#include "openmp/program/imports.hpp"

#include <algorithm>

namespace hiroba::openmp {

namespace {

struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    size_t bytes = 0;
  } calls, data;
};

// The dynamic linker has made the addresses absolute.
void read(const ElfW(Dyn) * entry, Dynamic& out) {
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const auto at = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB: out.symbols = reinterpret_cast<const ElfW(Sym)*>(at); break;
      case DT_STRTAB: out.names = reinterpret_cast<const char*>(at); break;
      case DT_JMPREL: out.calls.first = reinterpret_cast<const ElfW(Rela)*>(at); break;
      case DT_PLTRELSZ: out.calls.bytes = at; break;
      case DT_RELA: out.data.first = reinterpret_cast<const ElfW(Rela)*>(at); break;
      case DT_RELASZ: out.data.bytes = at; break;
      default: break;
    }
  }
}

struct Search {
  std::string_view library;
  DynamicTable found;
};

// The executable has no name, and is the first object.
int find_table(dl_phdr_info* object, size_t, void* search) {
  auto& [library, found] = *static_cast<Search*>(search);
  const std::string_view name = object->dlpi_name;
  if (!library.empty() && name.find(library) == std::string_view::npos) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      found = {reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr), object->dlpi_addr};
  return 1;
}

bool matches(std::string_view called, std::string_view name) {
  return name.ends_with('*') ? called.starts_with(name.substr(0, name.size() - 1)) : called == name;
}

}  // namespace

DynamicTable dynamic_table(std::string_view library) {
  Search search = {library, {}};
  dl_iterate_phdr(find_table, &search);
  return search.found;
}

bool imports(std::initializer_list<std::string_view> names) {
  Dynamic program;
  read(dynamic_table().entries, program);
  for (const Dynamic::Relocations& part : {program.calls, program.data})
    for (size_t i = 0; i < part.bytes / sizeof *part.first; ++i) {
      const ElfW(Sym)& symbol = program.symbols[ELF64_R_SYM(part.first[i].r_info)];
      const std::string_view called = program.names + symbol.st_name;
      if (std::ranges::any_of(names, [called](std::string_view name) { return matches(called, name); })) return true;
    }
  return false;
}

}  // namespace hiroba::openmp
