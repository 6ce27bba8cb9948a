// The machine as hwloc describes it, restricted to what this process may use, and the placement of ranks on it. A
// Machine owns its topology; after load it is read-only. Forked children use their copy.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace hiroba {

enum class Bind { none, core, numa };

struct Cores {
  int first, count;
};

// The cores of `rank` when `ranks` ranks get contiguous shares of `cores`; with more ranks than cores, one that it
// shares with its neighbours.
Cores share_of_cores(int rank, int ranks, int cores);

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

  // Binds the calling process to its place. Does nothing for Bind::none.
  Status bind(Bind how, int rank, int ranks) const;

 private:
  int count(hwloc_obj_type_t type) const;

  hwloc_topology_t topology_ = nullptr;
};

}  // namespace hiroba
