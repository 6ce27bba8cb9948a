#include "base/energy/meter.hpp"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "base/wait.hpp"

namespace hiroba {

namespace {

// Sources that do not say how often they change are read so often, in seconds; others twice in each period.
constexpr double unknown_period = 1e-3;

std::string resolution(const EnergyAbout& about) {
  const double step = about.step;
  const char* const unit = about.integrated ? "W" : "J";
  if (step >= 1) return format("%g %s", step, unit);
  return step >= 1e-3 ? format("%g m%s", step * 1e3, unit) : format("%.3g u%s", step * 1e6, unit);
}

std::string described(const EnergyMeter::Reader& reader, double seconds) {
  const EnergyAbout& about = reader.source->about;
  const std::string head = format("%-24s %-8s %-8s ", about.name.c_str(), about.way.c_str(), name_of(about.scope));
  if (!reader.why_not.empty()) return head + reader.why_not + '\n';
  if (!reader.sum.has_watts())
    return head + format("no watts: the counter has changed less than twice in %.1f s\n", seconds);
  const char* const does = about.integrated ? "integrated, tells" : "counts";
  std::string text = head + format("%.2f W (%s %s", reader.sum.watts(), does, resolution(about).c_str());
  if (reader.sum.period() > 0) text += format(", changes every %.1f ms", reader.sum.period() * 1e3);
  else if (about.period > 0) text += format(", updated every %.1f ms", about.period * 1e3);
  if (reader.sum.longest_gap() > 0) text += format(", to be read every %.0f s", reader.sum.longest_gap());
  text += ')';
  if (!reader.why_not_counted.empty()) text += "; not added: " + reader.why_not_counted;
  return text + '\n';
}

}  // namespace

void EnergyMeter::open(const EnergyPlaces& places) { open(find_energy(places)); }

void EnergyMeter::open(EnergySources sources) {
  readers_.clear();
  absent_ = std::move(sources.absent);
  for (std::unique_ptr<EnergySource>& source : sources.all) {
    EnergySum sum(source->about);
    std::string why_not = source->why_not;
    readers_.push_back({std::move(source), std::move(sum), 0, std::move(why_not), ""});
  }
  choose();
}

// Packages, memory and devices add up. What covers the whole machine contains them, so it is taken alone, where no
// package can be read. Ways come in the order of find_energy(), and of two that show the same the first one counts.
void EnergyMeter::choose() {
  const auto readable = [&](EnergyScope scope) {
    return std::any_of(readers_.begin(), readers_.end(), [scope](const Reader& reader) {
      return reader.why_not.empty() && reader.source->about.scope == scope;
    });
  };
  const bool whole = !readable(EnergyScope::package) && readable(EnergyScope::machine);
  bool have_machine = false;
  for (size_t i = 0; i < readers_.size(); ++i) {
    Reader& reader = readers_[i];
    const EnergyAbout& about = reader.source->about;
    const auto same = [&about](const Reader& other) {
      return other.why_not.empty() && other.source->about.name == about.name;
    };
    const auto before = std::find_if(readers_.begin(), readers_.begin() + static_cast<ptrdiff_t>(i), same);
    if (!reader.why_not.empty()) reader.why_not_counted = "it cannot be read";
    else if (about.scope == EnergyScope::part) reader.why_not_counted = "it is a part of a package";
    else if (about.scope == EnergyScope::sensor) reader.why_not_counted = "it is not known what it contains";
    else if (before < readers_.begin() + static_cast<ptrdiff_t>(i))
      reader.why_not_counted = "the same by " + before->source->about.way + " is";
    else if (whole != (about.scope == EnergyScope::machine))
      reader.why_not_counted = whole ? "it is a part of the machine" : "it contains packages, which are";
    else if (about.scope == EnergyScope::machine && std::exchange(have_machine, true))
      reader.why_not_counted = "one that covers the machine suffices";
  }
}

void EnergyMeter::sample(double now, bool at_once) {
  const double begin = seconds_now();
  bool any = false;
  for (Reader& reader : readers_) {
    if (!reader.why_not.empty() || (now < reader.next && (!at_once || reader.source->about.slow))) continue;
    const double period = reader.source->about.period;
    reader.next = now + (period > 0 ? period / 2 : unknown_period);
    uint64_t value = 0;
    Status taken = reader.source->read(value);
    // A source that takes long, such as a board's controller, has its value at the end of the call.
    if (taken.ok()) taken = reader.sum.add(value, now + seconds_now() - begin);
    reader.why_not = taken.message();
    any = true;
  }
  cost_ += seconds_now() - begin;
  samples_ += any ? 1 : 0;
}

void EnergyMeter::reset() {
  for (Reader& reader : readers_) reader.sum = EnergySum(reader.source->about), reader.next = 0;
}

std::string EnergyMeter::why_none() const {
  for (const Reader& reader : readers_)
    if (!reader.why_not.empty()) return reader.source->about.name + ": " + reader.why_not;
  return absent_.empty() ? "not there: no source of energy" : absent_.front();
}

EnergyMeter::Total EnergyMeter::joules(double now) const {
  Total out;
  bool any = false;
  for (const Reader& reader : readers_) {
    if (!reader.why_not_counted.empty()) continue;
    if (!reader.why_not.empty()) return {0, reader.why_not};
    out.value += reader.sum.joules(now);
    any = true;
  }
  return any ? out : Total{0, why_none()};
}

EnergyMeter::Total EnergyMeter::joules_of(const std::string& device, double now) const {
  for (const Reader& reader : readers_)
    if (reader.source->about.id == device) return {reader.why_not.empty() ? reader.sum.joules(now) : 0, reader.why_not};
  return {0, "not there: no source of energy for the device at PCI " + device};
}

EnergyMeter::Total EnergyMeter::watts() const {
  Total out;
  bool any = false;
  for (const Reader& reader : readers_) {
    if (!reader.why_not_counted.empty()) continue;
    if (!reader.why_not.empty()) return {0, reader.why_not};
    if (!reader.sum.has_watts())
      return {0, format("not readable: %s has changed less than twice", reader.source->about.name.c_str())};
    out.value += reader.sum.watts();
    any = true;
  }
  return any ? out : Total{0, why_none()};
}

std::string EnergyMeter::summands() const {
  std::string out;
  std::set<std::string> counted;
  bool whole = false;
  for (const Reader& reader : readers_) {
    if (!reader.why_not_counted.empty()) continue;
    out += (out.empty() ? "" : ", ") + reader.source->about.name;
    counted.insert(reader.source->about.name);
    whole = whole || reader.source->about.scope == EnergyScope::machine;
  }
  for (const Reader& reader : readers_) {
    const EnergyAbout& about = reader.source->about;
    const bool adds =
        about.scope == EnergyScope::package || about.scope == EnergyScope::memory || about.scope == EnergyScope::device;
    if (whole || !adds || reader.why_not.empty() || counted.contains(about.name)) continue;
    out += "; without " + about.name + ": " + reader.why_not;
  }
  return out;
}

std::string EnergyMeter::unchanged() const {
  std::string out;
  for (const Reader& reader : readers_)
    if (reader.why_not_counted.empty() && !reader.sum.changed())
      out += (out.empty() ? "" : ", ") + reader.source->about.name;
  return out;
}

bool EnergyMeter::any() const {
  return std::any_of(readers_.begin(), readers_.end(), [](const Reader& r) { return r.why_not_counted.empty(); });
}

std::string EnergyMeter::describe(double seconds) const {
  std::string text;
  for (const Reader& reader : readers_) text += described(reader, seconds);
  for (const std::string& way : absent_) text += way + '\n';
  const Total total = watts();
  if (!total.why_unknown.empty()) return text + "this machine: watts unknown: " + total.why_unknown + '\n';
  return text + format("this machine: %.2f W (%s); a sample takes %.0f us\n", total.value, summands().c_str(),
                       cost_ * 1e6 / samples_);
}

std::string describe_power(const EnergyPlaces& places, double seconds) {
  EnergyMeter meter;
  meter.open(places);
  const double begin = seconds_now();
  for (double now = begin; now - begin < seconds; now = seconds_now()) {
    meter.sample(now);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  return meter.describe(seconds);
}

}  // namespace hiroba
