// The placement of an array's home pages on the NUMA domains of their machine, and counts of moved pages. Values.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace hiroba {

struct MemoryPlace {
  enum class Kind { owner, interleave, touch, domain } kind = Kind::owner;
  int domain = 0;
  // Parses "owner", "interleave", "touch", "domain:N".
  static Status parse(const std::string& text, MemoryPlace& out);
};

struct MovedPages {
  uint64_t pages = 0, refused = 0;
  int error = 0;  // the errno of a refused page
  MovedPages& operator+=(const MovedPages& other) {
    pages += other.pages, refused += other.refused;
    if (other.error != 0) error = other.error;
    return *this;
  }
};

}  // namespace hiroba
