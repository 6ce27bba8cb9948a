#include "launcher/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/limits.hpp"

namespace hiroba {

Cores share_of_cores(int rank, int ranks, int cores) {
  const auto boundary = [&](int r) { return static_cast<int>(static_cast<int64_t>(r) * cores / ranks); };
  return {boundary(rank), std::max(1, boundary(rank + 1) - boundary(rank))};
}

Machine::~Machine() {
  if (topology_ != nullptr) hwloc_topology_destroy(topology_);
}

Status Machine::load() {
  if (hwloc_topology_init(&topology_) != 0 || hwloc_topology_load(topology_) != 0)
    return Status::error(format("hwloc cannot read this machine's topology (%s)", explain_error(errno).c_str()));
  if (!hwloc_topology_is_thissystem(topology_)) return {};  // a described machine (HWLOC_SYNTHETIC, HWLOC_XMLFILE)
  // Use only the cores that taskset or a batch system allows.
  hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  if (hwloc_get_cpubind(topology_, allowed, HWLOC_CPUBIND_PROCESS) == 0)
    hwloc_topology_restrict(topology_, allowed, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
  hwloc_bitmap_free(allowed);
  return {};
}

int Machine::count(hwloc_obj_type_t type) const { return std::max(1, hwloc_get_nbobjs_by_type(topology_, type)); }

std::string Machine::processor() const {
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, 0);
  const char* name = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  return name == nullptr ? "" : name;
}

Status Machine::bind(Bind how, int rank, int ranks) const {
  if (how == Bind::none) return {};
  hwloc_bitmap_t place = hwloc_bitmap_alloc();
  const auto add = [&](hwloc_obj_type_t type, int index) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology_, type, static_cast<unsigned>(index));
    hwloc_bitmap_or(place, place, object != nullptr ? object->cpuset : hwloc_topology_get_topology_cpuset(topology_));
  };
  if (how == Bind::numa) {
    add(HWLOC_OBJ_NUMANODE, rank % numa_nodes());
  } else {
    const Cores mine = share_of_cores(rank, ranks, cores());
    for (int c = mine.first; c < mine.first + mine.count; ++c) add(HWLOC_OBJ_CORE, c);
  }
  const int failed = hwloc_set_cpubind(topology_, place, HWLOC_CPUBIND_PROCESS);
  hwloc_bitmap_free(place);
  if (failed != 0) return Status::error(format("cannot bind to its cores (%s)", explain_error(errno).c_str()));
  return {};
}

}  // namespace hiroba
