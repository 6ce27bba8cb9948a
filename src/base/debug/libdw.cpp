#include "base/debug/libdw.hpp"

#include <dlfcn.h>
#include <dwarf.h>
#include <unistd.h>

#include <type_traits>

namespace hiroba {

bool Libdw::load() {
  void* const library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  bool all = true;
  const auto find = [&](auto& function, const char* symbol_name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol_name));
    all = all && function != nullptr;
  };
  find(begin, "dwfl_begin"), find(report_begin, "dwfl_report_begin"), find(report, "dwfl_linux_proc_report");
  find(report_file, "dwfl_report_elf"), find(end, "dwfl_end"), find(report_end, "dwfl_report_end");
  find(module, "dwfl_addrmodule"), find(function, "dwfl_module_addrname"), find(symbol, "dwfl_module_addrinfo");
  find(line, "dwfl_module_getsrc"), find(line_info, "dwfl_lineinfo"), find(unit, "dwfl_module_addrdie");
  find(next_unit, "dwfl_module_nextcu"), find(child, "dwarf_child"), find(sibling, "dwarf_siblingof");
  find(has_code, "dwarf_haspc"), find(scopes, "dwarf_getscopes_die"), find(tag, "dwarf_tag");
  find(attribute, "dwarf_attr"), find(inherited, "dwarf_attr_integrate"), find(unsigned_value, "dwarf_formudata");
  find(signed_value, "dwarf_formsdata"), find(referred, "dwarf_formref_die"), find(name, "dwarf_diename");
  find(offset, "dwarf_dieoffset"), find(peel, "dwarf_peel_type"), find(size, "dwarf_aggregate_size");
  find(location, "dwarf_getlocation"), find(language, "dwarf_srclang"), find(files, "dwarf_getsrcfiles");
  find(file, "dwarf_filesrc");
  find(callbacks.find_elf, "dwfl_linux_proc_find_elf");
  find(callbacks.find_debuginfo, "dwfl_standard_find_debuginfo");
  return all;
}

std::optional<Dwarf_Word> Libdw::number(Dwarf_Die entry, unsigned attribute_name) const {
  Dwarf_Attribute found;
  Dwarf_Word out = 0;
  Dwarf_Sword with_sign = 0;
  if (attribute(&entry, attribute_name, &found) == nullptr) return {};
  if (signed_value(&found, &with_sign) == 0) return static_cast<Dwarf_Word>(with_sign);
  if (unsigned_value(&found, &out) == 0) return out;
  return {};
}

std::optional<Dwarf_Die> Libdw::type_of(Dwarf_Die entry) const {
  Dwarf_Attribute found;
  Dwarf_Die type, peeled;
  if (inherited(&entry, DW_AT_type, &found) == nullptr || referred(&found, &type) == nullptr) return {};
  return peel(&type, &peeled) == 0 ? peeled : type;
}

namespace {

bool begin_session(Libdw& dw) {
  if (!dw.load()) return false;
  dw.session = dw.begin(&dw.callbacks);
  if (dw.session == nullptr) return false;
  dw.report_begin(dw.session);
  const bool read = dw.report(dw.session, getpid()) == 0;
  return dw.report_end(dw.session, nullptr, nullptr) == 0 && read;
}

}  // namespace

Libdw* libdw() {
  static Libdw dw;
  static const bool loaded = begin_session(dw);
  return loaded ? &dw : nullptr;
}

}  // namespace hiroba
