#include "openmp/program/imports.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>

#include "memory/memory.hpp"
#include "openmp/program/libraries.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    size_t bytes = 0;
  } calls, data;
  // Returns the first name for which is_wanted(name) is true; empty: there is none.
  template <typename IsWanted>
  std::string_view first_call(IsWanted is_wanted) const {
    for (const Relocations& part : {calls, data})
      for (size_t i = 0; i < part.bytes / sizeof *part.first; ++i) {
        const std::string_view called = names + symbols[ELF64_R_SYM(part.first[i].r_info)].st_name;
        if (is_wanted(called)) return called;
      }
    return {};
  }
  bool calls_one_of(std::initializer_list<std::string_view> wanted) const;
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
  found = table_of(*object);
  return 1;
}

bool Dynamic::calls_one_of(std::initializer_list<std::string_view> wanted) const {
  const auto is_wanted = [wanted](std::string_view called) {
    return std::ranges::any_of(wanted, [called](std::string_view name) { return is_meant_by(called, name); });
  };
  return !first_call(is_wanted).empty();
}

bool is_of_libgomp(std::string_view name) {
  Dl_info found = {};
  const void* const function = dlsym(RTLD_DEFAULT, name.data());
  return function != nullptr && dladdr(function, &found) != 0 &&
         std::string_view(found.dli_fname).find("/libgomp.so") != std::string_view::npos;
}

struct Replacement {
  Users users;
  std::map<std::string_view, void*> own;
};

// Returns true for what the dynamic linker has made read-only (RELRO).
bool is_read_only(const dl_phdr_info& object, const void* slot) {
  const auto at = reinterpret_cast<uint64_t>(slot) - object.dlpi_addr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO && at >= header.p_vaddr && at < header.p_vaddr + header.p_memsz) return true;
  }
  return false;
}

void replace(const dl_phdr_info& object, void** slot, void* own) {
  if (!is_read_only(object, slot)) {
    *slot = own;
    return;
  }
  void* const page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(slot) / page_bytes * page_bytes);
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  *slot = own;
  mprotect(page, page_bytes, PROT_READ);
}

bool is_meant(const dl_phdr_info& object, Users users) {
  const std::string_view name = object.dlpi_name;
  if (users == Users::libraries) return !name.empty();
  return name.empty() || instance<Libraries>().has(object) || name.find("/libstdc++.so") != name.npos ||
         name.find("/libgfortran.so") != name.npos;
}

int replace_in(dl_phdr_info* object, size_t, void* replacement) {
  const auto& [users, own] = *static_cast<const Replacement*>(replacement);
  if (!is_meant(*object, users)) return 0;
  Dynamic table;
  read(table_of(*object).entries, table);
  for (const Dynamic::Relocations& part : {table.calls, table.data})
    for (size_t i = 0; i < part.bytes / sizeof *part.first; ++i) {
      const ElfW(Rela)& place = part.first[i];
      const auto kind = ELF64_R_TYPE(place.r_info);
      if (kind != R_X86_64_GLOB_DAT && kind != R_X86_64_JUMP_SLOT) continue;
      const auto found = own.find(table.names + table.symbols[ELF64_R_SYM(place.r_info)].st_name);
      if (found != own.end())
        replace(*object, reinterpret_cast<void**>(object->dlpi_addr + place.r_offset), found->second);
    }
  return 0;
}

}  // namespace

bool is_of_project(const dl_phdr_info& object) {
  const std::string_view file = object.dlpi_name;
  const bool is_systems =
      std::ranges::any_of(std::initializer_list<std::string_view>{"/usr/", "/lib", "/opt/", "/nix/"},
                          [file](std::string_view folder) { return file.starts_with(folder); });
  return file.find('/') != file.npos && !is_systems && file.find("/libhiroba") == file.npos &&
         file.find("/libgomp.so") == file.npos && !instance<Libraries>().has(object) &&
         table_of(object).entries != nullptr;
}

std::string_view library_that_calls(std::string_view name) {
  struct Look {
    std::string_view name, found;
  } look = {name, {}};
  const auto search = [](dl_phdr_info* object, size_t, void* argument) {
    auto& [name, found] = *static_cast<Look*>(argument);
    if (!is_of_project(*object)) return 0;
    Dynamic table;
    read(table_of(*object).entries, table);
    if (table.calls_one_of({name})) found = object->dlpi_name;
    return found.empty() ? 0 : 1;
  };
  dl_iterate_phdr(search, &look);
  return look.found;
}

std::string_view libgomp_function(bool (*wanted)(std::string_view name)) {
  struct Look {
    bool (*wanted)(std::string_view name);
    std::string_view found;
  } look = {wanted, {}};
  const auto search = [](dl_phdr_info* object, size_t, void* argument) {
    auto& [wanted, found] = *static_cast<Look*>(argument);
    const std::string_view file = object->dlpi_name;
    if (!file.empty() && !instance<Libraries>().has(*object)) return 0;
    Dynamic table;
    read(table_of(*object).entries, table);
    found = table.first_call([wanted = wanted](std::string_view name) {
      return (name.starts_with("GOMP_") || name.starts_with("omp_")) && wanted(name) && is_of_libgomp(name);
    });
    return found.empty() ? 0 : 1;
  };
  dl_iterate_phdr(search, &look);
  return look.found;
}

void replace_imports(Users users, std::span<const Import> imports) {
  Replacement replacement = {users, {}};
  for (const auto& [name, own] : imports) replacement.own.emplace(name, own);
  dl_iterate_phdr(replace_in, &replacement);
}

std::vector<std::string_view> DynamicTable::needed() const {
  Dynamic table;
  read(entries, table);
  std::vector<std::string_view> names;
  for (const ElfW(Dyn)* entry = entries; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED) names.emplace_back(table.names + entry->d_un.d_val);
  return names;
}

std::span<void*> DynamicTable::functions(ElfW(Sxword) at, ElfW(Sxword) bytes) const {
  void** first = nullptr;
  size_t count = 0;
  for (const ElfW(Dyn)* entry = entries; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == at) first = reinterpret_cast<void**>(base + entry->d_un.d_ptr);
    if (entry->d_tag == bytes) count = entry->d_un.d_val / sizeof *first;
  }
  return {first, first == nullptr ? 0 : count};
}

void DynamicTable::run_destructors() const {
  const std::span<void*> destructors = functions(DT_FINI_ARRAY, DT_FINI_ARRAYSZ);
  for (size_t i = destructors.size(); i-- > 0;) reinterpret_cast<void (*)()>(destructors[i])();
}

DynamicTable table_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      return {reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr), object.dlpi_addr};
  return {};
}

DynamicTable dynamic_table(std::string_view library) {
  Search search = {library, {}};
  dl_iterate_phdr(find_table, &search);
  return search.found;
}

bool imports(std::initializer_list<std::string_view> names) {
  Dynamic program;
  read(dynamic_table().entries, program);
  return program.calls_one_of(names);
}

}  // namespace hiroba::openmp
