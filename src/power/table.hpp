// The table of all ranks: what each rank sends to the first one, and its text.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "power/accounts.hpp"

namespace hiroba {

// One rank's part. Only the first rank of a node has measured.
struct PowerReport {
  int node = 0;
  bool measured = false;
  std::string host, machine;  // machine: the same for all nodes on it
  std::string summands, why_unknown;
  double seconds = 0, joules = 0, idle_watts = 0, period = 0;
  double cost = 0;  // seconds that a sample takes
  long samples = 0;
  std::map<std::string, PowerAccount> accounts;

  std::string packed() const;
  static PowerReport unpacked(std::span<const char> text);
};

std::string power_table(const std::vector<PowerReport>& ranks);

}  // namespace hiroba
