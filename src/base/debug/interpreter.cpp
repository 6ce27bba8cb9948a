#include "base/debug/interpreter.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sstream>
#include <string_view>

#include "base/status.hpp"

namespace hiroba {

namespace {

// Writes the thread's lines of Python into a file; returns false if there are none.
bool dump(int file) {
  const auto state = reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  const auto write_lines = reinterpret_cast<void (*)(int, void*)>(dlsym(RTLD_DEFAULT, "_Py_DumpTraceback"));
  void* const thread = state == nullptr || write_lines == nullptr ? nullptr : state();
  if (thread == nullptr) return false;
  write_lines(file, thread);
  return true;
}

std::string contents_of(int file) {
  std::string text;
  char piece[4096];
  off_t at = 0;
  for (ssize_t got = 0; (got = pread(file, piece, sizeof piece, at)) > 0; at += got)
    text.append(piece, static_cast<size_t>(got));
  return text;
}

bool is_own_package(std::string_view path) {
  const std::string_view folder = path.substr(0, path.rfind('/'));
  return folder.ends_with("python/hiroba") || folder.ends_with("-packages/hiroba");
}

// Returns the place in a line of a traceback, `  File "PATH", line 12 in step`; "" if there is none.
std::string place_in(const std::string& line) {
  constexpr std::string_view before = "  File \"", between = "\", line ", last = " in ";
  const size_t middle = line.find(between), end = line.rfind(last);
  if (!line.starts_with(before) || middle == std::string::npos || end == std::string::npos || end < middle) return "";
  const std::string path = line.substr(before.size(), middle - before.size());
  if (is_own_package(path)) return "";
  const size_t number = middle + between.size();
  return format("%s:%s (%s)", path.substr(path.rfind('/') + 1).c_str(), line.substr(number, end - number).c_str(),
                line.substr(end + last.size()).c_str());
}

}  // namespace

bool python_location(std::string& place) {
  const int file = memfd_create("hiroba-lines", MFD_CLOEXEC);
  if (file < 0) return false;
  const bool found = dump(file);
  std::istringstream lines(found ? contents_of(file) : "");
  close(file);
  place.clear();
  for (std::string line; place.empty() && std::getline(lines, line);) place = place_in(line);
  return found;
}

void print_python_stack() { dump(STDERR_FILENO); }

}  // namespace hiroba
