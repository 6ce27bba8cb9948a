// A hash of numbers.
#pragma once

#include <cstdint>

namespace hiroba {

inline uint64_t mixed(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15;
  return a ^ (a >> 29);
}

}  // namespace hiroba
