// RAPL: counters of energy in processors of Intel and AMD, as the kernel's powercap shows them.
#include <unistd.h>

#include "base/energy/source.hpp"

namespace hiroba {

namespace {

EnergyScope scope_of(const std::string& name) {
  if (name.starts_with("package")) return EnergyScope::package;
  if (name == "psys") return EnergyScope::machine;
  return name == "dram" ? EnergyScope::memory : EnergyScope::part;
}

std::unique_ptr<EnergySource> source_of(const std::string& folder) {
  std::unique_ptr<EnergySource> source = energy_file(folder + "/energy_uj");
  EnergyAbout& about = source->about;
  about.way = "powercap", about.period = 1e-3;
  if (!read_line(folder + "/name", about.name).ok()) about.name = folder.substr(folder.rfind('/') + 1);
  about.scope = scope_of(about.name);
  // "intel-rapl:0:1" is a part of "intel-rapl:0".
  const size_t last = folder.rfind(':'), before = folder.rfind(':', last - 1);
  std::string whole;
  if (before != std::string::npos && before > folder.rfind('/') &&
      read_line(folder.substr(0, last) + "/name", whole).ok())
    about.name = whole + "/" + about.name;
  source->why_not = read_number(folder + "/max_energy_range_uj", about.range).message();
  return source;
}

}  // namespace

Status add_powercap(const std::string& root, EnergySources& out) {
  const std::string folder = root + '/' + "class/powercap";
  if (access(folder.c_str(), F_OK) != 0)
    return Status::error("not there: there is no %s: this is a virtual machine, or the kernel has no powercap",
                         folder.c_str());
  // Not intel-rapl-mmio, which shows the same packages once more. Processors of AMD have the same names.
  const std::vector<std::string> found = files_like(folder + "/intel-rapl:*");
  for (const std::string& zone : found) add_source(source_of(zone), out);
  if (!found.empty()) return {};
  return Status::error(
      "not there: %s has no intel-rapl:N: the kernel's module intel_rapl_msr is not loaded, or the processor has no "
      "RAPL",
      folder.c_str());
}

}  // namespace hiroba
