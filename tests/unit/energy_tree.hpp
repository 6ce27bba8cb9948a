// A tree of files that stands for the kernel's, for tests of energy.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/energy/meter.hpp"

namespace hiroba {

class EnergyTree : public testing::Test {
 protected:
  static constexpr uint64_t range = 262143328850;

  EnergyTree() {
    char name[] = "/tmp/hiroba_energy_XXXXXX";
    root = mkdtemp(name);
    std::filesystem::permissions(root, std::filesystem::perms(0755));
  }
  ~EnergyTree() override { std::filesystem::remove_all(root); }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root + '/' + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  // Returns the folder of a zone of RAPL.
  std::string zone(const std::string& folder, const std::string& name, uint64_t energy = 5) const {
    const std::string path = "class/powercap/" + folder;
    write(path + "/name", name);
    write(path + "/energy_uj", std::to_string(energy));
    write(path + "/max_energy_range_uj", std::to_string(range));
    return path;
  }
  // A directory in the place of a file cannot be read by root, either.
  void make_unreadable(const std::string& file) const {
    std::filesystem::remove(root + '/' + file);
    std::filesystem::create_directories(root + '/' + file);
  }
  EnergyPlaces places(const std::string& nvml = "none") const { return {root, nvml}; }
  std::vector<EnergyMeter::Reader> const& open(const std::string& nvml = "none") {
    meter.open(places(nvml));
    return meter.readers();
  }
  const EnergyMeter::Reader& reader(const std::string& name, const std::string& way = "") const {
    for (const EnergyMeter::Reader& found : meter.readers())
      if (found.source->about.name == name && (way.empty() || found.source->about.way == way)) return found;
    ADD_FAILURE() << "no source " << name;
    return meter.readers().front();
  }

  std::string root;
  EnergyMeter meter;
};

}  // namespace hiroba
