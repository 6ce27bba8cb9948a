#include "launcher/machine.hpp"

#include <algorithm>
#include <cerrno>

#include "base/limits.hpp"

namespace hiroba {

Machine::~Machine() {
  if (topology_ != nullptr) hwloc_topology_destroy(topology_);
}

Status Machine::load() {
  if (hwloc_topology_init(&topology_) != 0 || hwloc_topology_load(topology_) != 0)
    return Status::error("hwloc cannot read this machine's topology (%s)", explain_error(errno).c_str());
  all_cores_ = core_list();
  described_ = hwloc_topology_is_thissystem(topology_) == 0;
  if (described_) return {};
  // Use only the cores that taskset or a batch system allows.
  const hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  if (hwloc_get_cpubind(topology_, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
    restricted_ = hwloc_bitmap_isincluded(hwloc_topology_get_topology_cpuset(topology_), allowed) == 0;
    hwloc_topology_restrict(topology_, allowed, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
  }
  hwloc_bitmap_free(allowed);
  return {};
}

int Machine::count(hwloc_obj_type_t type) const { return std::max(1, hwloc_get_nbobjs_by_type(topology_, type)); }

std::string Machine::processor() const {
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, 0);
  const char* name = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  return name == nullptr ? "" : name;
}

std::vector<Core> Machine::core_list() const {
  std::vector<Core> out;
  const bool has_cores = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology_, type, object)) != nullptr;) {
    Core core;
    for (int cpu = -1; (cpu = hwloc_bitmap_next(object->cpuset, cpu)) >= 0;) core.cpus.push_back(cpu);
    core.domain =
        std::max(0, hwloc_bitmap_first(object->nodeset));  // the first has the memory for all, if there are several
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, object);
    core.socket = package == nullptr ? 0 : static_cast<int>(package->logical_index);
    out.push_back(std::move(core));
  }
  return out;
}

}  // namespace hiroba
