#include "base/tables/wires.hpp"

#include <unistd.h>

#include <algorithm>

namespace hiroba {

const WireKind* find_wire(std::string_view transport) {
  for (const WireKind& kind : wire_kinds)
    if (kind.transport == transport) return &kind;
  return nullptr;
}

std::string library_folder() {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  std::string folder(self, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  for (int levels = 2; levels > 0; --levels) folder.erase(std::min(folder.rfind('/'), folder.size()));  // leaves bin
  const std::string installed = folder + "/" HIROBA_LIBDIR "/hiroba";
  return access(installed.c_str(), F_OK) == 0 ? installed : folder + "/lib/hiroba";
}

}  // namespace hiroba
