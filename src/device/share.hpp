// The division of a node's devices among its ranks. A pure function, which all ranks of the node compute alike.
#pragma once

#include <vector>

namespace hiroba {

// Returns for each rank the devices that it uses, from the NUMA domains of both (-1: not known): each device goes to a
// rank of its domain that has the fewest, else to any that has the fewest; then each rank without a device uses one
// that the fewest use, of its domain if there is one.
std::vector<std::vector<int>> share_devices(const std::vector<int>& rank_domains, const std::vector<int>& domains);

}  // namespace hiroba
