// A rank's word in a barrier with notices: how many it has, of which nodes' pages, up to where they cover its entries
// in its node's log of intervals, and two flags. Pure arithmetic.
#pragma once

#include <cstdint>

#include "memory/notices/near_nodes.hpp"

namespace hiroba {

struct BarrierWord {
  uint64_t notices = 0;  // rounded up: exact below 256, else at most 1/32 too many
  uint32_t nodes = 0;    // NearNodes, of the homes of their pages
  uint64_t covered = 0;  // Intervals::at_barrier(), in covered_bits bits
  bool unknown = false;  // the rank may have written home pages that it cannot name
  bool says_homes = false;

  static constexpr int size_bits = 10, covered_bits = 36;
  static_assert(size_bits + NearNodes::bits + covered_bits + 2 == 64);

  uint64_t pack() const {
    return size_code(notices) | uint64_t{nodes} << size_bits | covered << (size_bits + NearNodes::bits) |
           uint64_t{says_homes} << 62 | uint64_t{unknown} << 63;
  }
  static BarrierWord unpack(uint64_t word) {
    BarrierWord out;
    out.notices = size_of(word & ((1 << size_bits) - 1));
    out.nodes = static_cast<uint32_t>(word >> size_bits & ((1 << NearNodes::bits) - 1));
    out.covered = word >> (size_bits + NearNodes::bits) & ((uint64_t{1} << covered_bits) - 1);
    out.says_homes = (word >> 62 & 1) != 0;
    out.unknown = word >> 63 != 0;
    return out;
  }

 private:
  // Below 256 the number itself, else five bits of mantissa and an exponent.
  static uint64_t size_code(uint64_t count) {
    if (count < 256) return count;
    int exponent = 3;
    while (((count - 1) >> exponent) + 1 >= 64) ++exponent;
    return 256 + static_cast<uint64_t>(exponent - 3) * 32 + (((count - 1) >> exponent) + 1 - 32);
  }
  static uint64_t size_of(uint64_t code) { return code < 256 ? code : (32 + code % 32) << ((code - 256) / 32 + 3); }
};

}  // namespace hiroba
