// A set of nodes in 16 bits, as one of the nodes sees it: exact for the nearest ones; one bit stands for all others.
// Pure arithmetic.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace hiroba {

struct NearNodes {
  static constexpr int reach = 7, bits = 2 * reach + 2;
  static constexpr uint32_t far = uint32_t{1} << (bits - 1);

  // From -nnodes/2 to nnodes/2: nodes are in a ring.
  static int distance(int from, int node, int nnodes) {
    const int ahead = (node - from + nnodes) % nnodes;
    return ahead > nnodes / 2 ? ahead - nnodes : ahead;
  }
  static uint32_t bit(int from, int node, int nnodes) {
    const int d = distance(from, node, nnodes);
    return std::abs(d) <= reach ? uint32_t{1} << (d + reach) : far;
  }
  // Returns true if a set as `from` sees it has one of the nodes for which wants(node) holds, of which there are
  // `wanted`. It may say so of far nodes that are not in the set.
  template <typename Wants>
  static bool meets(uint32_t set, int from, int nnodes, int wanted, const Wants& wants) {
    if (set == 0) return false;
    for (int d = -reach; d <= reach; ++d) {
      const int node = (from + d % nnodes + nnodes) % nnodes;
      if (distance(from, node, nnodes) != d || !wants(node)) continue;
      if ((set >> (d + reach) & 1) != 0) return true;
      --wanted;
    }
    return (set & far) != 0 && wanted > 0;
  }
};

}  // namespace hiroba
