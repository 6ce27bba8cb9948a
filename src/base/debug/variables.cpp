#include "base/debug/variables.hpp"

#include <dlfcn.h>
#include <dwarf.h>
#include <sys/auxv.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/debug/libdw.hpp"
#include "base/status.hpp"

namespace hiroba {

namespace {

struct Language {
  bool fortran;
};

bool is_pointer(const Libdw& dw, Dwarf_Die& type) {
  const int tag = dw.tag(&type);
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

// Returns 0 if the size is not known before the program runs.
uint64_t size_of(const Libdw& dw, Dwarf_Die type) {
  Dwarf_Word bytes = 0;
  return dw.size(&type, &bytes) == 0 ? bytes : 0;
}

struct Dimension {
  int64_t first;
  uint64_t extent;  // 0: not known
};

std::vector<Dimension> dimensions_of(const Libdw& dw, Dwarf_Die array, Language language) {
  std::vector<Dimension> out;
  dw.any_child(array, [&](Dwarf_Die& range) {
    if (dw.tag(&range) != DW_TAG_subrange_type) return false;
    const int64_t usual = language.fortran ? 1 : 0;
    const auto first = static_cast<int64_t>(dw.number(range, DW_AT_lower_bound).value_or(usual));
    const auto last = dw.number(range, DW_AT_upper_bound), count = dw.number(range, DW_AT_count);
    out.push_back({first, count ? *count : last ? *last - static_cast<uint64_t>(first) + 1 : 0});
    return false;
  });
  return out;
}

// Returns "[3][2]" or "(3,2)" for an element by its place in memory.
std::string subscripts(const std::vector<Dimension>& dimensions, uint64_t element, Language language) {
  const size_t count = dimensions.size();
  std::string out;
  for (size_t i = 0; i < count; ++i) {  // the dimension that is the i-th fastest in memory
    const Dimension& d = dimensions[language.fortran ? i : count - 1 - i];
    const bool last = i + 1 == count;
    if (!last && d.extent == 0) return format(" (its element %lu in memory)", element);
    const int64_t at = d.first + static_cast<int64_t>(last ? element : element % d.extent);
    element = last ? 0 : element / d.extent;
    if (language.fortran) out += format("%s%ld", i == 0 ? "" : ",", at);
    else out.insert(0, format("[%ld]", at));
  }
  return language.fortran ? "(" + out + ")" : out;
}

std::string part_of(const Libdw& dw, Dwarf_Die type, uint64_t byte, Language language);

std::string member_of(const Libdw& dw, Dwarf_Die structure, uint64_t byte, Language language) {
  std::string out;
  dw.any_child(structure, [&](Dwarf_Die& member) {
    const int tag = dw.tag(&member);
    const auto begin = dw.number(member, DW_AT_data_member_location);
    const auto type = dw.type_of(member);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !begin || !type) return false;
    if (byte < *begin || byte >= *begin + size_of(dw, *type)) return false;
    const char* const name = tag == DW_TAG_member ? dw.name(&member) : nullptr;
    if (name != nullptr) out = (language.fortran ? "%" : ".") + std::string(name);
    out += part_of(dw, *type, byte - *begin, language);
    return true;
  });
  return out;
}

// Returns the text after the name of a variable of this type that names the part at a byte of it.
std::string part_of(const Libdw& dw, Dwarf_Die type, uint64_t byte, Language language) {
  const int tag = dw.tag(&type);
  if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) return member_of(dw, type, byte, language);
  const auto element = tag == DW_TAG_array_type ? dw.type_of(type) : std::nullopt;
  const uint64_t bytes = element ? size_of(dw, *element) : 0;
  if (bytes == 0) return "";
  return subscripts(dimensions_of(dw, type, language), byte / bytes, language) +
         part_of(dw, *element, byte % bytes, language);
}

// The memory of a variable, or what a pointer points to.
struct Object {
  const char* begin;
  Dwarf_Die type;
  std::string name;
  bool pointed;  // by a pointer with that name
};

const char* word_at(const char* address) {
  const char* out = nullptr;
  std::memcpy(&out, address, sizeof out);
  return out;
}

// Finds the name of an address among places of memory.
class Search {
 public:
  Search(const Libdw& dw, const void* address, AllocatedAt object, Language language)
      : dw_(dw), address_(static_cast<const char*>(address)), object_(object), language_(language) {}

  // Returns true if the variable at `begin` has the address, or points to the object that has it.
  bool look(const char* begin, Dwarf_Die type, const char* name) {
    const uint64_t bytes = size_of(dw_, type);
    if (address_ >= begin && address_ < begin + bytes) return found({begin, type, name, false});
    if (object_.begin == nullptr || !is_pointer(dw_, type) || word_at(begin) != object_.begin) return false;
    const auto to = dw_.type_of(type);
    return to && found({word_at(begin), *to, name, true});
  }
  // The same for one of a size that is not known: the last one before the address has it.
  void look_unsized(const char* begin, Dwarf_Die type, const char* name) {
    if (begin <= address_ && begin > unsized_) unsized_ = begin, found({begin, type, name, false});
  }
  void set_language(Language language) { language_ = language; }
  const VariableName& name() const { return name_; }

 private:
  bool found(const Object& place) {
    const auto byte = static_cast<uint64_t>(address_ - place.begin);
    const uint64_t bytes = size_of(dw_, place.type);
    name_.variable = name_.element = place.name;
    if (!place.pointed) name_.element += part_of(dw_, place.type, byte, language_);
    else if (bytes > 0)
      name_.element += format("[%lu]", byte / bytes) + part_of(dw_, place.type, byte % bytes, language_);
    return true;
  }

  const Libdw& dw_;
  const char* const address_;
  const AllocatedAt object_;
  Language language_;
  const char* unsized_ = nullptr;
  VariableName name_;
};

Language language_of(const Libdw& dw, Dwarf_Die& unit) {
  const int language = dw.language(&unit);
  return {language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
          language == DW_LANG_Fortran03 || language == DW_LANG_Fortran08};
}

// Looks at variables with an address, also those in functions, classes and namespaces.
bool look_at_variables(const Libdw& dw, Dwarf_Die scope, Dwarf_Addr bias, Search& search) {
  return dw.any_child(scope, [&](Dwarf_Die& entry) {
    if (dw.tag(&entry) != DW_TAG_variable) return look_at_variables(dw, entry, bias, search);
    Dwarf_Attribute attribute;
    Dwarf_Op* operation = nullptr;
    size_t operations = 0;
    const bool fixed = dw.attribute(&entry, DW_AT_location, &attribute) != nullptr &&
                       dw.location(&attribute, &operation, &operations) == 0 && operations == 1 &&
                       operation->atom == DW_OP_addr;
    const auto type = fixed ? dw.type_of(entry) : std::nullopt;
    const char* const name = dw.name(&entry);
    if (!type || name == nullptr) return false;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return search.look(reinterpret_cast<const char*>(operation->number + bias), *type, name);
  });
}

// Finds the function that has the code, at any depth: regions of OpenMP lie in the function that has them.
bool find_function(const Libdw& dw, Dwarf_Die scope, Dwarf_Addr code, Dwarf_Die& found) {
  return dw.any_child(scope, [&](Dwarf_Die& entry) {
    if (find_function(dw, entry, code, found)) return true;
    const bool has = dw.tag(&entry) == DW_TAG_subprogram && dw.has_code(&entry, code) > 0;
    if (has) found = entry;
    return has;
  });
}

// Returns the type of a variable of the function.
std::optional<Dwarf_Die> variable_type(const Libdw& dw, Dwarf_Die function, const char* name) {
  std::optional<Dwarf_Die> out;
  dw.any_child(function, [&](Dwarf_Die& entry) {
    const char* const its = dw.tag(&entry) == DW_TAG_variable ? dw.name(&entry) : nullptr;
    const bool same = its != nullptr && std::strcmp(its, name) == 0;
    if (same) out = dw.type_of(entry);
    return same;
  });
  return out;
}

// Returns the structure to which the first parameter of a region's function refers.
std::optional<Dwarf_Die> structure_of_data(const Libdw& dw, Dwarf_Die function) {
  std::optional<Dwarf_Die> type;
  dw.any_child(function, [&](Dwarf_Die& entry) {
    const bool parameter = dw.tag(&entry) == DW_TAG_formal_parameter;
    if (parameter) type = dw.type_of(entry);
    return parameter;
  });
  while (type && is_pointer(dw, *type)) type = dw.type_of(*type);
  return type && dw.tag(&*type) == DW_TAG_structure_type ? type : std::nullopt;
}

}  // namespace

VariableName variable_at(const void* address, AllocatedAt object) {
  const Libdw* const dw = libdw();
  if (dw == nullptr) return {};
  Dl_info library = {};  // variables may lie where libdw sees no file
  const auto code =
      dladdr(address, &library) != 0 ? reinterpret_cast<Dwarf_Addr>(library.dli_fbase) : getauxval(AT_ENTRY);
  Dwfl_Module* const module = dw->module(dw->session, code);
  if (module == nullptr) return {};
  Search search(*dw, address, object, {false});
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* unit = nullptr; (unit = dw->next_unit(module, unit, &bias)) != nullptr;) {
    search.set_language(language_of(*dw, *unit));
    if (look_at_variables(*dw, *unit, bias, search)) break;
  }
  return search.name();
}

VariableName shared_variable_at(const void* function, const void* data, const void* address, AllocatedAt object) {
  const Libdw* const dw = libdw();
  const auto code = reinterpret_cast<Dwarf_Addr>(function);
  Dwfl_Module* const module = dw == nullptr ? nullptr : dw->module(dw->session, code);
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = module == nullptr ? nullptr : dw->unit(module, code, &bias);
  Dwarf_Die region;
  if (unit == nullptr || !find_function(*dw, *unit, code - bias, region)) return {};
  const auto structure = structure_of_data(*dw, region);
  if (!structure) return {};
  Search search(*dw, address, object, language_of(*dw, *unit));
  // A variable is passed by value, or its address is, in a member with its name.
  dw->any_child(*structure, [&](Dwarf_Die& member) {
    const char* const name = dw->name(&member);
    auto type = dw->type_of(member);
    if (name == nullptr || !type) return false;
    const char* const at = static_cast<const char*>(data) + dw->number(member, DW_AT_data_member_location).value_or(0);
    auto own = variable_type(*dw, region, name);
    auto to = is_pointer(*dw, *type) ? dw->type_of(*type) : std::nullopt;
    const bool by_address = own && to && dw->offset(&*own) == dw->offset(&*to);
    if (!by_address) return search.look(at, *type, name);
    if (size_of(*dw, *to) != 0) return search.look(word_at(at), *to, name);
    search.look_unsized(word_at(at), *to, name);
    return false;
  });
  return search.name();
}

}  // namespace hiroba
