#include "power/power.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "base/machine/host.hpp"
#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "power/sampler.hpp"
#include "power/table.hpp"

namespace hiroba {

namespace {

constexpr double idle_seconds = 1;
constexpr double least_period = 1e-3, most_period = 1;

// A region of the program that has begun.
struct Open {
  std::string place;
  double time;
  EnergyMeter::Total before;
};

std::string machine_id() {
  std::string id;
  (void)read_line("/proc/sys/kernel/random/boot_id", id);
  return id.empty() ? host_name() : id;
}

}  // namespace

struct PowerParts {
  Power::Settings settings;
  Power::Surroundings around;
  PowerSampler sampler;
  std::string machine;
  int ranks = 1;          // on this machine
  double idle_watts = 0;  // of this machine; 0: not known
  std::mutex guard;       // of `open`
  std::map<std::string, Open> open;
  bool running = false;
};

namespace {

using Texts = std::vector<std::vector<char>>;

Status gather(const PowerParts& p, const char* call, const std::string& mine, Texts& all) {
  return p.around.collective->teams().gather(call, mine, all);
}

std::string names_of(const std::map<std::string, Open>& open) {
  std::string out;
  for (const auto& [name, region] : open) out += (out.empty() ? "'" : ", '") + name + "'";
  return out;
}

// All ranks sleep, so that the machine does nothing. `any`: some machine can tell what it uses.
Status find_idle_power(PowerParts& p, bool any) {
  double mine = std::max(0.0, p.settings.idle);
  if (p.settings.idle < 0 && any) {
    if (p.around.job.leads()) mine = std::max(0.0, p.sampler.idle_watts(idle_seconds));
    else std::this_thread::sleep_for(std::chrono::duration<double>(idle_seconds));
  }
  Texts all;
  HIROBA_TRY(gather(p, "option power: idle watts", p.machine + ' ' + format("%.9g", mine), all));
  p.ranks = 0;
  for (int r = 0; r < p.around.job.nranks; ++r) {
    const std::string text(all[r].begin(), all[r].end());
    const size_t space = text.rfind(' ');
    if (text.substr(0, space) != p.machine) continue;
    const double watts = std::strtod(text.c_str() + space, nullptr);
    if (p.idle_watts == 0) p.idle_watts = watts;
    ++p.ranks;
  }
  return {};
}

PowerReport report_of(const PowerParts& p) {
  PowerReport out;
  const Job& job = p.around.job;
  out.node = job.node, out.measured = job.leads(), out.machine = p.machine, out.host = host_name();
  out.accounts = p.sampler.accounts();
  out.period = p.settings.period, out.idle_watts = p.idle_watts;
  if (!out.measured) return out;
  const EnergyMeter::Total total = p.sampler.total(out.seconds);
  out.cost = p.sampler.cost(), out.joules = total.value, out.why_unknown = total.why_unknown;
  out.summands = p.sampler.summands();
  return out;
}

}  // namespace

Status Power::Settings::from_options(const Options& options, Settings& out) {
  out.on = options.flag("power");
  if (!out.on) return {};
  HIROBA_TRY(EnergyPlaces::from_options(options, out.places));
  out.period = options.number("power-period") * 1e-3;
  if (out.period < least_period || out.period > most_period)
    return Status::error("option power-period: %s is not from %g to %g ms", options.text("power-period").c_str(),
                         least_period * 1e3, most_period * 1e3);
  const std::string& idle = options.text("power-idle");
  if (idle == "measure") return {};
  char* end = nullptr;
  out.idle = std::strtod(idle.c_str(), &end);
  if (idle.empty() || *end != '\0' || !(out.idle >= 0) || std::isinf(out.idle))
    return Status::error("option power-idle: '%s' is neither a number of watts, at least 0, nor measure", idle.c_str());
  return {};
}

Power::Power() : parts_(std::make_unique<PowerParts>()) {}
Power::~Power() = default;

bool Power::on() const { return parts_->settings.on; }

Status Power::start(const Settings& settings, const Surroundings& around) {
  PowerParts& p = *parts_;
  p.settings = settings, p.around = around;
  if (!settings.on) return {};
  p.machine = machine_id();
  p.sampler.start(settings, around);
  // Finding the sources takes longer on the first rank of a node.
  Texts all;
  HIROBA_TRY(gather(p, "option power", p.sampler.any() ? "any" : "none", all));
  const bool any = std::any_of(all.begin(), all.end(), [](const auto& text) { return text.size() == 3; });
  HIROBA_TRY(find_idle_power(p, any));
  p.running = true;
  return p.sampler.run(p.ranks);
}

Status Power::begin(const char* name, const char* place) {
  PowerParts& p = *parts_;
  if (!p.running) return {};
  if (name == nullptr || *name == '\0')
    return Status::error("the name is %s; a region needs one", name == nullptr ? "NULL" : "empty");
  if (std::strlen(name) > longest_name)
    return Status::error("the name '%.20s...' has %zu letters; at most %zu", name, std::strlen(name), longest_name);
  {
    const std::lock_guard lock(p.guard);
    const auto found = p.open.find(name);
    if (found != p.open.end())
      return Status::error("region '%s' is open already, since %s: end it first, or give this one another name", name,
                           found->second.place.c_str());
    if (p.open.size() == most_regions)
      return Status::error("%zu regions are open; at most %zu: end some", p.open.size(), most_regions);
    p.open[name] = {place, 0, {}};
  }
  Open now = {place, 0, {}};
  now.before = p.sampler.read(now.time);
  const std::lock_guard lock(p.guard);
  p.open[name] = std::move(now);
  return {};
}

Status Power::end(const char* name, Region& out) {
  PowerParts& p = *parts_;
  out = {};
  out.ranks = p.ranks;
  if (!p.running) return out.why_unknown = "option power is off: hirobarun --power", Status();
  double now = 0;
  const EnergyMeter::Total after = p.sampler.read(now);
  Open begun;
  {
    const std::lock_guard lock(p.guard);
    const auto found = p.open.find(name == nullptr ? "" : name);
    if (found == p.open.end())
      return Status::error("no region '%s' is open%s; hiroba_energy_begin opens one", name == nullptr ? "NULL" : name,
                           p.open.empty() ? "" : (", but " + names_of(p.open)).c_str());
    begun = std::move(found->second);
    p.open.erase(found);
  }
  out.seconds = now - begun.time;
  out.joules = (after.value - begun.before.value) / p.ranks;
  out.above_idle = out.joules - p.idle_watts / p.ranks * out.seconds;
  out.why_unknown = begun.before.why_unknown.empty() ? after.why_unknown : begun.before.why_unknown;
  p.sampler.note(std::string("region ") + name, out.seconds,
                 out.why_unknown.empty() ? out.joules : std::numeric_limits<double>::quiet_NaN());
  if (out.why_unknown.empty() && out.joules <= 0)
    out.why_unknown = "the counters have not changed in this region: it is shorter than their update period";
  return {};
}

Status Power::device(const std::string& address, double& out) {
  out = std::numeric_limits<double>::quiet_NaN();
  if (!parts_->running) return Status::error("option power is off: hirobarun --power");
  double now = 0;
  const EnergyMeter::Total total = parts_->sampler.read(now, address);
  if (!total.why_unknown.empty()) return Status::error("%s", total.why_unknown.c_str());
  out = total.value;
  return {};
}

Status Power::finish(const char* call, std::string& table) {
  PowerParts& p = *parts_;
  if (!p.running) return {};
  if (!p.open.empty()) {
    const auto& [name, region] = *p.open.begin();
    return Status::error("%s: region '%s', begun at %s, has not ended; call hiroba_energy_end before", call,
                         name.c_str(), region.place.c_str());
  }
  // The first rank of a node samples until all have arrived, and the others take their share of what it has read last.
  Barriers& barriers = p.around.collective->barriers();
  const bool leads = p.around.job.leads();
  HIROBA_TRY(barriers.all(call));
  if (leads) p.sampler.stop();
  HIROBA_TRY(barriers.all(call));
  if (!leads) p.sampler.stop();
  p.running = false;
  note();
  Texts all;
  HIROBA_TRY(gather(p, call, report_of(p).packed(), all));
  if (p.around.job.rank != 0) return {};
  std::vector<PowerReport> reports;
  for (const std::vector<char>& text : all) reports.push_back(PowerReport::unpacked(text));
  table = power_table(reports);
  return {};
}

void Power::note() const {
  if (!recording() || !on()) return;
  const PowerReport mine = report_of(*parts_);
  for (const auto& [name, account] : mine.accounts) note_energy(name.c_str(), account.seconds, account.joules);
  RunRecord& record = *run_record;
  record.machine_seconds = mine.seconds, record.machine_joules = mine.joules, record.idle_watts = mine.idle_watts;
  const std::string& why = mine.measured ? mine.why_unknown : "the first rank of the node measures";
  std::snprintf(record.energy_unknown, sizeof record.energy_unknown, "%s", why.c_str());
}

std::string Power::describe() const {
  const PowerParts& p = *parts_;
  std::string text;
  if (p.settings.on)
    for (const auto& [name, account] : p.sampler.accounts()) {
      const bool known = account.joules > 0;
      text += format("%s%s %.3f s %s", text.empty() ? "" : ", ", name.c_str(), account.seconds,
                     known ? format("%.3f J", account.joules).c_str() : "joules unknown");
    }
  return text;
}

}  // namespace hiroba
