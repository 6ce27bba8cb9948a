// The entry points of power.h, and the table at the end of the job.
#define HIROBA_NO_PLACES
#include "power.h"

#include <cmath>
#include <cstdio>

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "notation/collective/collective_process.hpp"
#include "notation/device/device_process.hpp"
#include "notation/task/task_process.hpp"
#include "power/power.hpp"

#define POWER_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

static_assert(Power::longest_name == HIROBA_ENERGY_NAME && Power::most_regions == HIROBA_ENERGY_REGIONS);

namespace {

void print_lines(const char* head, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    log_line("%s%s", head, text.substr(at, end - at).c_str());
    at = end + 1;
  }
}

class PowerModel final : public Model {
 public:
  Power power;

  Status start(Memory& memory, const Options& options) override {
    Power::Settings settings;
    HIROBA_TRY(Power::Settings::from_options(options, settings));
    Power::Surroundings around;
    around.job = memory.job(), around.board = memory.collective().world().board,
    around.collective = &memory.collective();
    if (settings.on) {
      around.threads = threads_per_rank();
      around.task = task_running_on;
    }
    return power.start(settings, around);
  }
  Status stop(const char* ends_by) override {
    std::string table;
    HIROBA_TRY(power.finish(ends_by, table));
    print_lines("power: ", table);
    return {};
  }
  // A program that exits before its end has no table, because other ranks may be gone.
  void report() const override {
    power.note();
    const Memory& memory = process_memory("exit");
    const bool early = memory.collective().world().board->rank(memory.job().rank).phase == Phase::leaving;
    if (power.on() && (memory.times().shown || early)) log_line("energy: %s", power.describe().c_str());
  }
};

// Returns the reason where it stays until the thread's next call; null if there is none.
const char* kept(const std::string& why) {
  static thread_local char text[512];
  std::snprintf(text, sizeof text, "%s", why.c_str());
  return why.empty() ? nullptr : text;
}

}  // namespace

Model& power_model() { return instance<PowerModel>(); }

POWER_EXPORT void hiroba_energy_begin(const char* name) {
  const CheckedCall call("hiroba_energy_begin");
  call.require(instance<PowerModel>().power.begin(name, prefix()));
}

POWER_EXPORT hiroba_energy hiroba_energy_end(const char* name) {
  const CheckedCall call("hiroba_energy_end");
  Power::Region region;
  call.require(instance<PowerModel>().power.end(name, region));
  if (const char* const why = kept(region.why_unknown); why != nullptr)
    return {region.seconds, NAN, NAN, NAN, NAN, region.ranks, why};
  return {
      region.seconds, region.joules, region.above_idle, region.joules / region.seconds, region.joules * region.seconds,
      region.ranks,   nullptr};
}

POWER_EXPORT double hiroba_energy_of_device(int device, const char** why_unknown) {
  const CheckedCall call("hiroba_energy_of_device");
  Devices::Properties properties;
  call.require(devices().properties(device, properties));
  // A device of the processor is a part of the machine; others are known by their address.
  const bool of_machine = properties.kind == DeviceKind::host;
  double joules = NAN;
  const char* const address = of_machine ? "" : properties.description.address.c_str();
  const char* const why = kept(instance<PowerModel>().power.device(address, joules).message());
  if (why_unknown != nullptr) *why_unknown = why;
  return joules;
}

}  // namespace hiroba
