// Where the home pages of an array lie among the NUMA domains of their machine, and how many have moved there. Values.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace hiroba {

struct MemoryPlace {
  enum class Kind { owner, interleave, touch, domain } kind = Kind::owner;
  int domain = 0;
  // "owner", "interleave", "touch", "domain:N".
  static Status parse(const std::string& text, MemoryPlace& out);
};

struct MovedPages {
  uint64_t pages = 0, refused = 0;
  int error = 0;  // an errno of one that was refused
  MovedPages& operator+=(const MovedPages& other) {
    pages += other.pages, refused += other.refused;
    if (other.error != 0) error = other.error;
    return *this;
  }
};

}  // namespace hiroba
