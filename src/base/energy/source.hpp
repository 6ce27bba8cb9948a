// Sources of energy of this machine: each way to read them is a file of this folder, and a line in sources.cpp. A
// source that cannot be read is a result with a reason, which begins with "not there", "no permission", "not readable"
// or "counter went backwards"; it is never zero joules.
//
// An object is for one thread at a time. read() may block for milliseconds (IPMI: a second).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/tables/options.hpp"

namespace hiroba {

// The parts that sources cover. A machine contains its packages, which contain parts; memory and devices are beside
// packages. A sensor covers what the board's maker says.
enum class EnergyScope { machine, package, memory, device, part, sensor };
const char* name_of(EnergyScope scope);

struct EnergyAbout {
  std::string name;     // such as "package-0", or "package-0/dram" for a part of it or its memory
  std::string way;      // such as "powercap"
  std::string id = "";  // of a device: its address of PCI, "0000:1b:00.0"
  EnergyScope scope = EnergyScope::sensor;
  bool integrated = false;  // it tells microwatts, which the caller integrates, instead of microjoules
  bool slow = false;        // read() may block for more than milliseconds
  double step = 1e-6;       // its resolution: joules, or watts if it is integrated
  double period = 0;        // seconds between its updates, as its documentation says; 0: it says nothing
  uint64_t range = 0;       // the largest value, after which it starts again at 0; 0: it does not
};

class EnergySource {
 public:
  virtual ~EnergySource() = default;
  virtual Status read(uint64_t& value) = 0;

  EnergyAbout about;
  std::string why_not;  // not empty: it cannot be read, for this reason
};

struct EnergySources {
  std::vector<std::unique_ptr<EnergySource>> all;
  std::vector<std::string> absent;  // ways that have no source here: "NVML: not there: ..."
};

// Options power-root and power-nvml.
struct EnergyPlaces {
  std::string root = "/sys";               // the kernel's tree
  std::string nvml = "libnvidia-ml.so.1";  // "none": no devices

  static Status from_options(const Options& options, EnergyPlaces& out);
};

// Finds all sources, and tries to read each once.
EnergySources find_energy(const EnergyPlaces& places);

// The ways. Each adds its sources, or the reason why there is none.
Status add_powercap(const std::string& root, EnergySources& out);
Status add_perf(const std::string& root, EnergySources& out);
Status add_nvml(const std::string& library, EnergySources& out);
Status add_hwmon(const std::string& root, EnergySources& out);
Status add_ipmi(const std::string& root, EnergySources& out);

// ---- for the ways ----
// Reads the first line of a file, or a number in it.
Status read_line(const std::string& file, std::string& out);
Status read_number(const std::string& file, uint64_t& out);
// Lists what matches, in order.
std::vector<std::string> files_like(const std::string& pattern);
// Returns the status for an error of the system.
Status cannot_read(const std::string& what, int error);
// Adds the source, and tries to read it.
void add_source(std::unique_ptr<EnergySource> source, EnergySources& out);
// A file that holds the value.
std::unique_ptr<EnergySource> energy_file(const std::string& file);

// Takes the watts from the answer of a board's controller to the request for its power (DCMI 1.5, 6.6.1).
Status dcmi_watts(const unsigned char* answer, size_t bytes, uint64_t& out);

}  // namespace hiroba
