#include "base/debug/symbols.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/debug/interpreter.hpp"
#include "base/debug/libdw.hpp"
#include "base/status.hpp"

namespace hiroba {

namespace {

std::string_view name_of(const char* path) {
  const std::string_view whole = path;
  return whole.substr(whole.rfind('/') + 1);
}

// Also gfortran's names in modules: "__solver_MOD_step". Unnamed namespaces are left out. A function of C may have the
// name of a mangled type, as "h", which is unsigned char.
std::string demangled(const char* name) {
  const char* const module = std::strncmp(name, "__", 2) == 0 ? std::strstr(name, "_MOD_") : nullptr;
  if (module != nullptr) return std::string(name + 2, module) + "::" + (module + std::strlen("_MOD_"));
  if (std::strncmp(name, "_Z", 2) != 0) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (size_t at = out.find(unnamed); at != out.npos; at = out.find(unnamed)) out.erase(at, unnamed.size());
  return out;
}

// Returns the name of the file that contains the code; "" if none does.
std::string_view object_of(const void* code) {
  Dl_info info;
  return dladdr(code, &info) == 0 || info.dli_fname == nullptr ? std::string_view() : name_of(info.dli_fname);
}

bool is_library(const void* code) {
  static constexpr std::array folded = {"libhiroba.", "libhiroba_", "libc.so",   "libstdc++.", "libgomp.",
                                        "libgcc_s.",  "ld-linux",   "libpython", "libpthread", "libm.so"};
  const std::string_view object = object_of(code);
  return std::any_of(folded.begin(), folded.end(), [&](const char* name) { return object.starts_with(name); });
}

// Detects the code of the C library to which a signal handler returns: the system call sigreturn.
bool is_after_signal(const void* code) {
  static constexpr unsigned char trampoline[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  return std::memcmp(code, trampoline, sizeof trampoline) == 0;
}

struct SourceLine {
  const char* file;  // null: not known
  int number;
};

bool is_of_system(const char* file) {
  return std::strncmp(file, "/usr/", 5) == 0 || std::strstr(file, "include/c++/") != nullptr;
}

// Finds the innermost scope below `scope` that has the address. Functions of OpenMP's regions are scopes within the
// function that has the region, which has not their addresses, so dwarf_getscopes() does not find them: to look below
// `all` scopes does, and takes milliseconds.
bool find_scope(const Libdw& dw, Dwarf_Die& scope, Dwarf_Addr address, bool all, Dwarf_Die& found) {
  Dwarf_Die child;
  for (int end = dw.child(&scope, &child); end == 0; end = dw.sibling(&child, &child)) {
    const bool has = dw.has_code(&child, address) > 0;
    if (has) found = child;
    const bool enter = has || all || dw.tag(&child) == DW_TAG_namespace;
    if ((enter && find_scope(dw, child, address, all, found)) || has) return true;
  }
  return false;
}

// Code of the C++ library's headers that the compiler has inlined is told at the program's line that uses it.
SourceLine outside_system(const Libdw& dw, Dwfl_Module* module, Dwarf_Addr address, SourceLine line) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dw.unit(module, address, &bias);
  Dwarf_Die innermost, *scopes = nullptr;
  const auto find = [&](bool all) { return find_scope(dw, *unit, address - bias, all, innermost); };
  const bool known = unit != nullptr && (find(false) || find(true));
  const int count = known ? dw.scopes(&innermost, &scopes) : 0;
  Dwarf_Files* files = nullptr;
  size_t most = 0;
  SourceLine found = line;
  for (int i = 0; i < count && found.file != nullptr && is_of_system(found.file); ++i) {
    if (dw.tag(&scopes[i]) != DW_TAG_inlined_subroutine || dw.files(unit, &files, &most) != 0) continue;
    const auto value = [&](unsigned name) { return dw.number(scopes[i], name).value_or(0); };
    found = {dw.file(files, value(DW_AT_call_file), nullptr, nullptr), static_cast<int>(value(DW_AT_call_line))};
  }
  std::free(scopes);
  return found.file == nullptr || is_of_system(found.file) ? line : found;
}

// Sets what is known of the function and the line at an address, in the session of `dw`; null knows nothing.
void find_line(const Libdw* dw, Dwarf_Addr address, std::string& function, std::string& place) {
  Dwfl_Module* const module = dw == nullptr ? nullptr : dw->module(dw->session, address);
  if (module == nullptr) return;
  if (const char* const name = dw->function(module, address); name != nullptr) function = demangled(name);
  Dwfl_Line* const known = dw->line(module, address);
  if (known == nullptr) return;
  SourceLine line = {};
  line.file = dw->line_info(known, nullptr, &line.number, nullptr, nullptr, nullptr);
  if (line.file == nullptr) return;
  if (is_of_system(line.file)) line = outside_system(*dw, module, address, line);
  place = format("%s:%d", std::string(name_of(line.file)).c_str(), line.number);
}

}  // namespace

struct CodeFile::Session {
  Libdw dw;
  Session(const std::string& file, uint64_t bias) {
    if (!dw.load()) return;
    dw.callbacks.find_elf = nullptr;
    dw.session = dw.begin(&dw.callbacks);
    if (dw.session == nullptr) return;
    dw.report_begin(dw.session);
    dw.report_file(dw.session, file.c_str(), file.c_str(), -1, bias, false);
    dw.report_end(dw.session, nullptr, nullptr);
  }
  Session(const Session&) = delete;
  ~Session() {
    if (dw.session != nullptr) dw.end(dw.session);
  }
};

CodeFile::CodeFile(const std::string& executable, uint64_t bias)
    : session_(std::make_unique<Session>(executable, bias)), file_(name_of(executable.c_str())) {}
CodeFile::~CodeFile() = default;

std::string CodeFile::location(uint64_t code) const {
  std::string function, place;
  find_line(session_->dw.session == nullptr ? nullptr : &session_->dw, code, function, place);
  if (function.empty()) function = format("0x%lx", code);
  return format("%s (%s)", function.c_str(), place.empty() ? ("in " + file_).c_str() : place.c_str());
}

bool CodeFile::has_line(uint64_t code) const {
  const Libdw& dw = session_->dw;
  Dwfl_Module* const module = dw.session == nullptr ? nullptr : dw.module(dw.session, code);
  return module != nullptr && dw.line(module, code) != nullptr;
}

// A static variable of a function has a number: "field.3".
std::string CodeFile::variable(uint64_t address) const {
  const Libdw& dw = session_->dw;
  Dwfl_Module* const module = dw.session == nullptr ? nullptr : dw.module(dw.session, address);
  GElf_Sym symbol;
  GElf_Off offset = 0;
  const char* const name =
      module == nullptr ? nullptr : dw.symbol(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || offset >= symbol.st_size) return "";
  const std::string_view whole = name;
  const size_t dot = whole.rfind('.');
  const bool numbered = dot != whole.npos && whole.find_first_not_of("0123456789", dot + 1) == whole.npos;
  return demangled(std::string(whole.substr(0, numbered ? dot : whole.npos)).c_str());
}

std::string source_location(const void* code) {
  if (is_python_line(code)) return static_cast<const char*>(code);
  std::string function, place;
  find_line(libdw(), reinterpret_cast<Dwarf_Addr>(code), function, place);
  Dl_info info;
  const bool known = dladdr(code, &info) != 0;
  if (function.empty() && known && info.dli_sname != nullptr) function = demangled(info.dli_sname);
  if (function.empty()) function = format("%p", code);
  if (place.empty() && known) place = "in " + std::string(name_of(info.dli_fname));
  return place.empty() ? function : format("%s (%s)", function.c_str(), place.c_str());
}

std::string calling_location() {
  if (std::string line; python_location(line)) return line;
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    const void* const code = static_cast<char*>(frames[i]) - 1;
    if (is_library(code)) continue;
    std::string place = source_location(code);
    // Skips frames of this library in a static program, and the start of a program, in which exit handlers run.
    const bool ours = place.starts_with("hiroba::") || place.starts_with("_start ");
    if (!ours) return place;
  }
  return "";
}

void print_stack() {
  print_python_stack();
  void* frames[64];
  const int count = backtrace(frames, 64);
  const auto write_line = [](const std::string& text) {
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // stderr is closed
  };
  int first = 0;
  while (first < count && is_library(frames[first])) ++first;
  int folded = 0;
  int again = 0;  // frames at the place of the one before: a recursion
  std::string before;
  for (int i = first < count ? first : 0; i < count; ++i) {
    // A return address belongs to the instruction before it, except in a frame that a signal interrupted.
    const bool exact = i > 0 && is_after_signal(frames[i - 1]);
    const void* const code = static_cast<char*>(frames[i]) - (exact ? 0 : 1);
    const bool library = is_library(code);
    const std::string place = library ? "" : source_location(code);
    const bool same = !library && place == before;
    if (library) ++folded;
    if (same) ++again;
    const bool last = i + 1 == count;
    if (again > 0 && (!same || last)) {
      write_line(format("    ... %d more%s\n", again, last ? ", at least" : ""));
      again = 0;
    }
    if (folded > 0 && (!library || last))
      write_line(format("    ... %d frame%s in libraries\n", folded, folded == 1 ? "" : "s"));
    before = place;
    if (library || same) continue;
    folded = 0;
    write_line(format("    %s\n", place.c_str()));
    if (place.starts_with("main (")) return;  // its callers are the same in every program
  }
}

}  // namespace hiroba
