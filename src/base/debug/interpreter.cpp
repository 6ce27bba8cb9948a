#include "base/debug/interpreter.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

namespace hiroba {

namespace {

// Functions of the interpreter; null in a process that has none.
struct Interpreter {
  void* (*thread_state)();
  void (*write_lines)(int, void*);
  int (*holds_lock)();
};

// To look for them may be a page fault of an OpenMP program, in which the handler comes here again: it finds none.
const Interpreter& interpreter() {
  static constexpr Interpreter none = {};
  static Interpreter found = {};
  static std::atomic<int> state = 0;  // 1: a thread looks for them, 2: found
  int unknown = 0;
  if (state.compare_exchange_strong(unknown, 1)) {
    const auto function = []<typename Function>(Function*& out, const char* name) {
      out = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    };
    function(found.thread_state, "PyGILState_GetThisThreadState");
    function(found.write_lines, "_Py_DumpTraceback");
    function(found.holds_lock, "PyGILState_Check");
    state.store(2, std::memory_order_release);
  }
  return state.load(std::memory_order_acquire) == 2 ? found : none;
}

// Writes the thread's lines of Python into a file; returns false if there are none.
bool dump(int file) {
  const Interpreter& python = interpreter();
  void* const thread =
      python.thread_state == nullptr || python.write_lines == nullptr ? nullptr : python.thread_state();
  if (thread == nullptr) return false;
  python.write_lines(file, thread);
  return true;
}

// The innermost of the thread's lines.
struct Lines {
  char text[8192];
  size_t bytes = 0;
  bool found = false;

  Lines() {
    if (interpreter().thread_state == nullptr) return;
    const int file = memfd_create("hiroba-lines", MFD_CLOEXEC);
    if (file < 0) return;
    found = dump(file);
    const ssize_t got = found ? pread(file, text, sizeof text, 0) : 0;
    bytes = got > 0 ? static_cast<size_t>(got) : 0;
    close(file);
  }
};

bool is_own_package(std::string_view path) {
  const std::string_view folder = path.substr(0, path.rfind('/'));
  return folder.ends_with("python/hiroba") || folder.ends_with("-packages/hiroba");
}

// Packages that pip or the system has installed, such as numpy, and modules of Python itself, such as ctypes.
bool is_installed(std::string_view path) {
  const auto has = [path](const char* words) { return path.find(words) != std::string_view::npos; };
  return has("-packages/") || has("/lib/python3.") || has("/lib64/python3.") || path.starts_with("<frozen ");
}

struct Place {
  std::string_view path, line, function;
};

// Finds the place in a line of a traceback, `  File "PATH", line 12 in step`; returns false if there is none.
bool read_place(std::string_view line, Place& place) {
  constexpr std::string_view before = "  File \"", between = "\", line ", last = " in ";
  const size_t middle = line.find(between), end = line.rfind(last);
  if (!line.starts_with(before) || middle == std::string_view::npos || end == std::string_view::npos || end < middle)
    return false;
  const size_t number = middle + between.size();
  place = {line.substr(before.size(), middle - before.size()), line.substr(number, end - number),
           line.substr(end + last.size())};
  return true;
}

// Finds the innermost line of the program, or else that of an installed package that is not ours.
bool find_place(const Lines& lines, Place& place) {
  bool found = false;
  std::string_view rest(lines.text, lines.bytes);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    Place here;
    if (!read_place(line, here) || is_own_package(here.path) || (found && is_installed(here.path))) continue;
    place = here, found = true;
    if (!is_installed(here.path)) break;
  }
  place.path = place.path.substr(place.path.rfind('/') + 1);
  return found;
}

// Each line that was asked for, by its hash. The thread that takes an entry fills it in; another one that looks for the
// same line meanwhile writes the same text.
struct KnownLine {
  std::atomic<uint64_t> key;
  char text[120];
};
constexpr size_t most_lines = 4096;
KnownLine known_lines[most_lines];

const char* known_line(const Place& place) {
  const auto size = [](std::string_view text) { return static_cast<int>(text.size()); };
  char text[sizeof KnownLine::text];
  // NOLINTBEGIN(bugprone-suspicious-stringview-data-usage): each has its size before it.
  const int wanted = std::snprintf(text, sizeof text, "%.*s:%.*s (%.*s)", size(place.path), place.path.data(),
                                   size(place.line), place.line.data(), size(place.function), place.function.data());
  // NOLINTEND(bugprone-suspicious-stringview-data-usage)
  const size_t bytes = std::min(static_cast<size_t>(std::max(wanted, 0)), sizeof text - 1);
  const uint64_t key = std::hash<std::string_view>()({text, bytes}) | 1;
  for (size_t step = 0; step < 32; ++step) {
    KnownLine& known = known_lines[(key + step) % most_lines];
    uint64_t now = 0;
    if (!known.key.compare_exchange_strong(now, key) && now != key) continue;
    if (std::strcmp(known.text, text) != 0) std::memcpy(known.text, text, bytes + 1);
    return known.text;
  }
  return nullptr;
}

}  // namespace

bool python_location(std::string& place) {
  const Lines lines;
  Place found;
  place.clear();
  if (find_place(lines, found))
    place = std::string(found.path) + ":" + std::string(found.line) + " (" + std::string(found.function) + ")";
  return lines.found;
}

const char* python_line() {
  if (interpreter().thread_state == nullptr) return nullptr;
  const Lines lines;
  Place found;
  return find_place(lines, found) ? known_line(found) : nullptr;
}

const char* python_line_of(const void* code, uint64_t address) {
  const Interpreter& python = interpreter();
  if (python.holds_lock == nullptr) return nullptr;
  struct Last {
    const void* code;
    uint64_t address;
    const char* line;
  };
  static thread_local Last last = {};
  constexpr uint64_t near = uint64_t{4} << 20;  // pages may be fetched in groups of 2 MiB
  const bool goes_on = python.holds_lock() == 0 && last.code == code && address - last.address < near;
  last = {code, address, goes_on ? last.line : python_line()};
  return last.line;
}

bool is_python_line(const void* address) {
  return address >= static_cast<const void*>(known_lines) && address < static_cast<const void*>(std::end(known_lines));
}

void print_python_stack() { dump(STDERR_FILENO); }

}  // namespace hiroba

// For a debugger, which calls it in a process that it has stopped, and prints the text.
extern "C" __attribute__((visibility("default"))) const char* hiroba_python_lines();
const char* hiroba_python_lines() {
  static char text[sizeof hiroba::Lines::text + 1];
  const hiroba::Lines lines;
  std::memcpy(text, lines.text, lines.bytes);
  text[lines.bytes] = '\0';
  return text;
}
