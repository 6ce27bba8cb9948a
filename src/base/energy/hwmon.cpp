// Sensors that the kernel's hwmon shows: sockets of Grace and of AMD (amd_energy), GPUs of AMD, the power supply
// (power_meter of ACPI), and sensors of boards.
#include <unistd.h>

#include "base/energy/source.hpp"

namespace hiroba {

namespace {

// "Grace Power Socket 1": returns "1"; "" if `label` does not begin so.
std::string number_after(const std::string& label, const char* words) {
  return label.starts_with(words) ? label.substr(std::string(words).size()) : std::string();
}

// "CPU Power Socket" and "SysIO Power Socket" are parts of what "Grace Power Socket" measures; "Module Power Socket"
// contains the GPU, too.
void name_sensor(const std::string& chip, const std::string& label, const std::string& fallback, EnergyAbout& about) {
  std::string socket = number_after(label, "Grace Power Socket ");
  if (socket.empty()) socket = number_after(label, "Esocket");
  if (!socket.empty()) {
    about.name = "package-" + socket, about.scope = EnergyScope::package;
    return;
  }
  about.name = chip + " " + (label.empty() ? fallback : label);
  if (label.starts_with("CPU Power Socket ") || label.starts_with("SysIO Power Socket ") || label.starts_with("Ecore"))
    about.scope = EnergyScope::part;
  else if (chip == "amdgpu") about.scope = EnergyScope::device;
  else if (chip == "power_meter" && label.empty()) about.scope = EnergyScope::machine;
}

// `file` is FOLDER/energyN_input, powerN_input or powerN_average.
void add_sensor(const std::string& folder, const std::string& chip, const std::string& file, EnergySources& out) {
  const std::string name = file.substr(folder.size() + 1), stem = name.substr(0, name.find('_'));
  std::string label;
  if (!read_line(folder + '/' + stem + "_label", label).ok()) (void)read_line(folder + '/' + stem + "_oem_info", label);
  std::unique_ptr<EnergySource> source = energy_file(file);
  EnergyAbout& about = source->about;
  about.way = "hwmon", about.integrated = stem.starts_with("power");
  uint64_t milliseconds = 0;
  if (about.integrated && read_number(folder + '/' + stem + "_average_interval", milliseconds).ok())
    about.period = static_cast<double>(milliseconds) * 1e-3;
  name_sensor(chip, label, folder.substr(folder.rfind('/') + 1) + ' ' + stem, about);
  add_source(std::move(source), out);
}

}  // namespace

Status add_hwmon(const std::string& root, EnergySources& out) {
  const size_t before = out.all.size();
  for (const std::string& folder : files_like(root + '/' + "class/hwmon/hwmon*")) {
    std::string chip;
    if (!read_line(folder + "/name", chip).ok()) chip = folder.substr(folder.rfind('/') + 1);
    const std::vector<std::string> energies = files_like(folder + "/energy*_input");
    for (const std::string& file : energies) add_sensor(folder, chip, file, out);
    // The watts of a chip that counts joules are not needed.
    if (!energies.empty()) continue;
    for (const std::string& file : files_like(folder + "/power*_input")) add_sensor(folder, chip, file, out);
    for (const std::string& file : files_like(folder + "/power*_average")) {
      const std::string input = file.substr(0, file.rfind('_')) + "_input";
      if (access(input.c_str(), F_OK) != 0) add_sensor(folder, chip, file, out);
    }
  }
  if (out.all.size() > before) return {};
  return Status::error("not there: no %s/class/hwmon/hwmon* has energy*_input, power*_input or power*_average",
                       root.c_str());
}

}  // namespace hiroba
