// libdw (elfutils), by which this folder reads symbols and debug information. It is loaded at the first use, so that
// programs need it only then. Not thread-safe; for this folder only.
#pragma once

#include <elfutils/libdwfl.h>

#include <optional>

namespace hiroba {

// The functions that are called, and a session over what they read.
struct Libdw {
  decltype(&dwfl_begin) begin = nullptr;
  decltype(&dwfl_report_begin) report_begin = nullptr;
  decltype(&dwfl_linux_proc_report) report = nullptr;
  decltype(&dwfl_report_elf) report_file = nullptr;
  decltype(&dwfl_end) end = nullptr;
  decltype(&dwfl_report_end) report_end = nullptr;
  decltype(&dwfl_addrmodule) module = nullptr;
  decltype(&dwfl_module_addrname) function = nullptr;
  decltype(&dwfl_module_addrinfo) symbol = nullptr;
  decltype(&dwfl_module_getsrc) line = nullptr;
  decltype(&dwfl_lineinfo) line_info = nullptr;
  decltype(&dwfl_module_addrdie) unit = nullptr;
  decltype(&dwfl_module_nextcu) next_unit = nullptr;
  decltype(&dwarf_child) child = nullptr;
  decltype(&dwarf_siblingof) sibling = nullptr;
  decltype(&dwarf_haspc) has_code = nullptr;
  decltype(&dwarf_getscopes_die) scopes = nullptr;
  decltype(&dwarf_tag) tag = nullptr;
  decltype(&dwarf_attr) attribute = nullptr;
  decltype(&dwarf_attr_integrate) inherited = nullptr;
  decltype(&dwarf_formudata) unsigned_value = nullptr;
  decltype(&dwarf_formsdata) signed_value = nullptr;
  decltype(&dwarf_formref_die) referred = nullptr;
  decltype(&dwarf_diename) name = nullptr;
  decltype(&dwarf_dieoffset) offset = nullptr;
  decltype(&dwarf_peel_type) peel = nullptr;
  decltype(&dwarf_aggregate_size) size = nullptr;
  decltype(&dwarf_getlocation) location = nullptr;
  decltype(&dwarf_srclang) language = nullptr;
  decltype(&dwarf_getsrcfiles) files = nullptr;
  decltype(&dwarf_filesrc) file = nullptr;
  Dwfl_Callbacks callbacks = {};
  Dwfl* session = nullptr;

  bool load();  // the functions; a session is not begun

  // The attribute's value, if the entry has it; `type_of` peels qualifiers and typedefs.
  std::optional<Dwarf_Word> number(Dwarf_Die entry, unsigned attribute_name) const;
  std::optional<Dwarf_Die> type_of(Dwarf_Die entry) const;
  // Calls visit(child) until it returns true; returns whether it has.
  template <typename Visit>
  bool any_child(Dwarf_Die entry, const Visit& visit) const {
    Dwarf_Die one;
    for (int end = child(&entry, &one); end == 0; end = sibling(&one, &one))
      if (visit(one)) return true;
    return false;
  }
};

// Returns libdw with the code of the whole process loaded; null if it cannot be loaded.
Libdw* libdw();

}  // namespace hiroba
