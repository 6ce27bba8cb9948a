// The division of a node's devices among its ranks. Pure functions, which all ranks of the node compute alike.
#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"

namespace hiroba {

// Returns for each rank the devices that it uses, from the NUMA domains of both (-1: not known): each device goes to a
// rank of its domain that has the fewest, else to any that has the fewest; then each rank without a device uses one
// that the fewest use, of its domain if there is one.
std::vector<std::vector<int>> share_devices(const std::vector<int>& rank_domains, const std::vector<int>& domains);

// A line of the table that `hiroba power spread` writes: a device of a machine, its mean watts (negative: not known),
// and the seconds of the same work.
struct MeasuredDevice {
  std::string host, kind;
  int number;
  std::string name;
  double watts, seconds;
};
Status read_spread_table(const std::string& file, std::vector<MeasuredDevice>& out);

// Sorts the devices of this machine, the best first: by "power" or "speed". Fails if the table is of another machine or
// of other devices, or has no watts.
Status order_devices(const std::vector<MeasuredDevice>& table, const std::string& by, const std::string& host,
                     const std::string& kind, std::vector<DeviceDescription>& devices);

}  // namespace hiroba
