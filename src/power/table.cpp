#include "power/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/status.hpp"

namespace hiroba {

namespace {

constexpr char between = '\t', at_end = '\n';

// Names and reasons are of the program and of the system: what separates fields is none of them.
std::string field(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == between || c == at_end; }, ' ');
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

// The energy-delay product is joules times seconds: it tells whether a faster run was worth its power.
std::string figures(double seconds, double joules, double idle_watts) {
  if (!(joules > 0) || seconds <= 0) return format("%10.3f %12s %10s %12s %12s", seconds, "unknown", "-", "-", "-");
  return format("%10.3f %12.3f %10.2f %12.3f %12.3f", seconds, joules, joules / seconds, joules * seconds,
                joules - idle_watts * seconds);
}

std::string line_of_node(const PowerReport& report) {
  const double seconds = report.seconds, joules = report.joules, idle = report.idle_watts;
  std::string text = format("node %d on %s: ", report.node, report.host.c_str());
  if (!report.why_unknown.empty())
    text +=
        format("%.3f s, joules unknown: %s (`hiroba power` lists all sources)\n", seconds, report.why_unknown.c_str());
  else
    text += format("%.3f J in %.3f s, %.2f W, energy-delay product %.3f J s%s (%s)\n", joules, seconds,
                   joules / seconds, joules * seconds,
                   idle > 0 ? format("; %.3f J above %.2f W when idle", joules - idle * seconds, idle).c_str() : "",
                   report.summands.c_str());
  return text + format("node %d: a sample every %g ms takes %.0f us, %.2f %% of one core\n", report.node,
                       report.period * 1e3, report.cost * 1e6, 100 * report.cost / report.period);
}

std::string nodes(const std::vector<PowerReport>& ranks) {
  std::string text;
  std::map<std::string, int> seen;  // the first node on each machine
  double joules = 0, seconds = 0;
  bool known = true;
  for (const PowerReport& report : ranks) {
    if (!report.measured) continue;
    const auto [first, is_new] = seen.try_emplace(report.machine, report.node);
    if (!is_new) {
      text +=
          format("node %d is on the machine of node %d, whose energy is counted once\n", report.node, first->second);
      continue;
    }
    text += line_of_node(report);
    joules += report.joules, seconds = std::max(seconds, report.seconds);
    known = known && report.why_unknown.empty();
  }
  if (seen.size() > 1 && known)
    text += format("%zu machines: %.3f J, %.2f W, energy-delay product %.3f J s\n", seen.size(), joules,
                   joules / seconds, joules * seconds);
  return text;
}

}  // namespace

std::string PowerReport::packed() const {
  std::string text = format("%d\t%d\t%s\t%s\t%s\t%s\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%ld", node, measured ? 1 : 0,
                            field(host).c_str(), field(machine).c_str(), field(summands).c_str(),
                            field(why_unknown).c_str(), seconds, joules, idle_watts, period, cost, samples);
  for (const auto& [name, account] : accounts)
    text += format("\n%s\t%.17g\t%.17g\t%ld", field(name).c_str(), account.seconds, account.joules, account.times);
  return text;
}

PowerReport PowerReport::unpacked(std::span<const char> text) {
  const std::vector<std::string> lines = split(std::string(text.begin(), text.end()), at_end);
  std::vector<std::string> f = split(lines[0], between);
  f.resize(12);
  PowerReport out;
  out.node = static_cast<int>(number(f[0])), out.measured = f[1] == "1";
  out.host = f[2], out.machine = f[3], out.summands = f[4], out.why_unknown = f[5];
  out.seconds = number(f[6]), out.joules = number(f[7]), out.idle_watts = number(f[8]), out.period = number(f[9]);
  out.cost = number(f[10]), out.samples = static_cast<long>(number(f[11]));
  for (size_t i = 1; i < lines.size(); ++i) {
    std::vector<std::string> words = split(lines[i], between);
    words.resize(4);
    out.accounts[words[0]] = {number(words[1]), number(words[2]), static_cast<long>(number(words[3]))};
  }
  return out;
}

std::string power_table(const std::vector<PowerReport>& ranks) {
  std::string text = nodes(ranks);
  std::map<std::string, int> on_machine;
  std::map<std::string, double> idle;
  std::map<std::string, bool> names;
  for (const PowerReport& report : ranks) {
    ++on_machine[report.machine];
    if (report.measured) idle.try_emplace(report.machine, report.idle_watts);
    for (const auto& [name, account] : report.accounts) names.emplace(name, true);
  }
  text += format("%-32s %5s %8s %10s %12s %10s %12s %12s\n", "region", "rank", "times", "seconds", "joules", "watts",
                 "J s", "J above idle");
  for (const auto& [name, shown] : names)
    for (size_t r = 0; r < ranks.size(); ++r) {
      const auto found = ranks[r].accounts.find(name);
      if (found == ranks[r].accounts.end()) continue;
      const PowerAccount& account = found->second;
      const std::string& machine = ranks[r].machine;
      const std::string times = account.times == 0 ? "sampled" : std::to_string(account.times);
      text += format("%-32s %5zu %8s %s\n", name.c_str(), r, times.c_str(),
                     figures(account.seconds, account.joules, idle[machine] / on_machine[machine]).c_str());
    }
  return text;
}

}  // namespace hiroba
