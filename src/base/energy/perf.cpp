// RAPL's counters as perf events: the kernel adds up what they have counted in 64 bits, so they do not wrap around.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/energy/source.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

class PerfEvent final : public EnergySource {
 public:
  PerfEvent(uint64_t type, uint64_t config, int cpu, double scale) : microjoules_(scale * 1e6) {
    perf_event_attr wish;
    std::memset(&wish, 0, sizeof wish);
    wish.size = sizeof wish;
    wish.type = static_cast<uint32_t>(type), wish.config = config;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &wish, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    error_ = fd_ < 0 ? errno : 0;
  }
  PerfEvent(const PerfEvent&) = delete;
  ~PerfEvent() override {
    if (fd_ >= 0) close(fd_);
  }
  Status read(uint64_t& value) override {
    uint64_t count = 0;
    if (fd_ < 0 && (error_ == EACCES || error_ == EPERM))
      return Status::error(
          "no permission: perf events of energy are for root, or with sysctl kernel.perf_event_paranoid=0 or less");
    if (fd_ < 0) return cannot_read("the perf event " + about.name, error_);
    if (::read(fd_, &count, sizeof count) != sizeof count) return cannot_read("the perf event " + about.name, errno);
    value = static_cast<uint64_t>(static_cast<double>(count) * microjoules_);
    return {};
  }

 private:
  double microjoules_;  // of one count
  int fd_, error_;
};

struct PerfName {
  const char* event;
  const char* part;  // of a package; "": the package; null: the machine
  EnergyScope scope;
};
constexpr PerfName names[] = {{"energy-pkg", "", EnergyScope::package},
                              {"energy-ram", "/dram", EnergyScope::memory},
                              {"energy-cores", "/core", EnergyScope::part},
                              {"energy-gpu", "/uncore", EnergyScope::part},
                              {"energy-psys", nullptr, EnergyScope::machine}};

// Names are those of powercap, so that the same counter is seen to be the same.
void add_event(const std::string& root, const std::string& file, const PerfName& name, uint64_t type,
               const std::vector<int>& cpus, EnergySources& out) {
  std::string event, scale;
  const Status readable = read_line(file, event);
  (void)read_line(file + ".scale", scale);
  const size_t equals = event.find('=');
  const uint64_t config = equals == std::string::npos ? 0 : std::strtoull(event.c_str() + equals + 1, nullptr, 0);
  const double unit = std::strtod(scale.c_str(), nullptr);
  for (size_t i = 0; i < cpus.size() && (name.part != nullptr || i == 0); ++i) {
    uint64_t package = i;
    const std::string cpu = root + '/' + "devices/system/cpu/cpu" + std::to_string(cpus[i]);
    (void)read_number(cpu + '/' + "topology/physical_package_id", package);
    auto source = std::make_unique<PerfEvent>(type, config, cpus[i], unit);
    source->about.way = "perf", source->about.scope = name.scope;
    source->about.name = name.part == nullptr ? "psys" : "package-" + std::to_string(package) + name.part;
    source->about.step = unit, source->about.period = 1e-3;
    if (!readable.ok()) source->why_not = readable.message();
    else if (equals == std::string::npos || unit <= 0)
      source->why_not =
          format("not readable: %s holds '%s', and its scale is '%s'", file.c_str(), event.c_str(), scale.c_str());
    add_source(std::move(source), out);
  }
}

// Virtual machines have counters that stand still, which would hide the sources that they contain. Those of processors
// change every millisecond.
void find_still(EnergySources& out, size_t first) {
  constexpr auto long_enough = std::chrono::milliseconds(20);
  std::vector<uint64_t> earlier(out.all.size(), 0);
  for (size_t i = first; i < out.all.size(); ++i) (void)out.all[i]->read(earlier[i]);
  if (out.all.size() > first) std::this_thread::sleep_for(long_enough);
  for (size_t i = first; i < out.all.size(); ++i) {
    uint64_t later = 0;
    EnergySource& source = *out.all[i];
    if (source.why_not.empty() && source.read(later).ok() && later == earlier[i])
      source.why_not = format("not readable: the counter stands still at %lu uJ: this is a virtual machine", later);
  }
}

}  // namespace

Status add_perf(const std::string& root, EnergySources& out) {
  const std::string folder = root + '/' + "bus/event_source/devices/power";
  if (access(folder.c_str(), F_OK) != 0)
    return Status::error("not there: there is no %s: the processor has no RAPL, or the kernel has no events for it",
                         folder.c_str());
  uint64_t type = 0;
  std::string mask;
  HIROBA_TRY(read_number(folder + "/type", type));
  HIROBA_TRY(read_line(folder + "/cpumask", mask));
  const std::vector<int> cpus = parse_numbers(mask).value_or(std::vector<int>{});
  const size_t before = out.all.size();
  for (const PerfName& name : names) {
    const std::string file = folder + "/events/" + name.event;
    if (access(file.c_str(), F_OK) == 0) add_event(root, file, name, type, cpus, out);
  }
  find_still(out, before);
  if (out.all.size() > before) return {};
  return Status::error("not there: %s/events has no energy-*, or its cpumask ('%s') no CPU", folder.c_str(),
                       mask.c_str());
}

}  // namespace hiroba
