#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/energy/source.hpp"

namespace hiroba {

namespace {

// The file stays open: a read at its begin makes the kernel compute its text again.
class EnergyFile final : public EnergySource {
 public:
  explicit EnergyFile(std::string file) : file_(std::move(file)) {}
  EnergyFile(const EnergyFile&) = delete;
  ~EnergyFile() override {
    if (fd_ >= 0) close(fd_);
  }
  Status read(uint64_t& value) override {
    if (fd_ < 0) fd_ = open(file_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) return cannot_read(file_, errno);
    char text[64];
    const ssize_t size = pread(fd_, text, sizeof text, 0);
    if (size < 0) return cannot_read(file_, errno);
    const char* const end = std::find(text, text + size, '\n');
    const auto [rest, wrong] = std::from_chars(text, end, value);
    if (wrong == std::errc() && rest == end) return {};
    return Status::error("not readable: %s holds '%.*s', which is no number", file_.c_str(),
                         static_cast<int>(end - text), text);
  }

 private:
  std::string file_;
  int fd_ = -1;
};

}  // namespace

const char* name_of(EnergyScope scope) {
  constexpr const char* names[] = {"machine", "package", "memory", "device", "part", "sensor"};
  return names[static_cast<int>(scope)];
}

Status EnergyPlaces::from_options(const Options& options, EnergyPlaces& out) {
  out.root = options.text("power-root"), out.nvml = options.text("power-nvml");
  struct stat found{};
  if (stat(out.root.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
    return Status::error("option power-root: there is no folder '%s'; give the one that has the kernel's class and bus",
                         out.root.c_str());
  if (out.nvml.find('/') != std::string::npos && access(out.nvml.c_str(), R_OK) != 0)
    return Status::error(
        "option power-nvml: '%s' cannot be read: %s; give the path of NVIDIA's libnvidia-ml.so.1, or none",
        out.nvml.c_str(), std::strerror(errno));
  return {};
}

EnergySources find_energy(const EnergyPlaces& places) {
  EnergySources out;
  // If two ways show the same counter, the first one that can be read counts (meter.cpp).
  const std::pair<const char*, Status> ways[] = {{"powercap", add_powercap(places.root, out)},
                                                 {"perf", add_perf(places.root, out)},
                                                 {"hwmon", add_hwmon(places.root, out)},
                                                 {"NVML", add_nvml(places.nvml, out)},
                                                 {"IPMI", add_ipmi(places.root, out)}};
  for (const auto& [way, added] : ways)
    if (!added.ok()) out.absent.push_back(format("%s: %s", way, added.message().c_str()));
  return out;
}

Status cannot_read(const std::string& what, int error) {
  const char* const name = what.c_str();
  if (error == EACCES || error == EPERM)
    return Status::error("no permission: %s is for root, unless root lets others read it (chmod a+r)", name);
  if (error == ENOENT || error == ENODEV || error == ENXIO)
    return Status::error("not there: %s: %s", name, std::strerror(error));
  return Status::error("not readable: %s: %s", name, std::strerror(error));
}

Status read_line(const std::string& file, std::string& out) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_read(file, errno);
  char text[256];
  const ssize_t size = read(fd, text, sizeof text);
  const int error = size < 0 ? errno : 0;
  close(fd);
  if (error != 0) return cannot_read(file, error);
  out.assign(text, static_cast<size_t>(size));
  out.resize(std::min(out.size(), out.find('\n')));
  return {};
}

Status read_number(const std::string& file, uint64_t& out) { return EnergyFile(file).read(out); }

std::vector<std::string> files_like(const std::string& pattern) {
  std::vector<std::string> out;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return out;
}

void add_source(std::unique_ptr<EnergySource> source, EnergySources& out) {
  uint64_t now = 0;
  if (source->why_not.empty()) source->why_not = source->read(now).message();
  out.all.push_back(std::move(source));
}

std::unique_ptr<EnergySource> energy_file(const std::string& file) { return std::make_unique<EnergyFile>(file); }

}  // namespace hiroba
