// The machine as hwloc describes it, restricted to the CPUs that this process may use. A Machine owns its topology;
// after load it is read-only. Forked children use their copy.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

// CPUs (hardware threads) by the system's numbers.
using Cpus = std::vector<int>;

struct Core {
  Cpus cpus;
  int domain = 0;  // NUMA domain, by the system's number
  int socket = 0;  // counted from 0
};

class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  Status load();

  int cores() const { return count(HWLOC_OBJ_CORE); }
  int hardware_threads() const { return count(HWLOC_OBJ_PU); }
  int numa_nodes() const { return count(HWLOC_OBJ_NUMANODE); }
  std::string processor() const;  // the model's name, or ""

  // Returns all cores that this process may use, in the order of the machine.
  std::vector<Core> core_list() const;
  // Returns also cores that this process may not use: to show where a process runs.
  const std::vector<Core>& all_cores() const { return all_cores_; }
  // Returns true if HWLOC_SYNTHETIC or HWLOC_XMLFILE describes another machine: nothing can be bound to its CPUs.
  bool is_described() const { return described_; }
  // Returns true if this process may use fewer CPUs than the machine has.
  bool is_restricted() const { return restricted_; }

 private:
  int count(hwloc_obj_type_t type) const;

  hwloc_topology_t topology_ = nullptr;
  std::vector<Core> all_cores_;
  bool described_ = false, restricted_ = false;
};

}  // namespace hiroba
