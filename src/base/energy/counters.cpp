#include "base/energy/counters.hpp"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

namespace hiroba {

namespace {

// No package uses as much. A decrease that would mean more is no wrap-around.
constexpr double most_watts = 2000;

// Returns 0 and the first line of the file, or errno.
int first_line(const std::string& file, std::string& out) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  char text[128];
  const ssize_t size = read(fd, text, sizeof text);
  const int error = size < 0 ? errno : 0;
  close(fd);
  if (error != 0) return error;
  out.assign(text, static_cast<size_t>(size));
  out.resize(std::min(out.size(), out.find('\n')));
  return 0;
}

Status read_number(const std::string& file, uint64_t& out) {
  std::string text;
  if (const int error = first_line(file, text); error == EACCES || error == EPERM)
    return Status::error("no permission to read %s: it is for root, unless root lets others read it (chmod a+r)",
                         file.c_str());
  else if (error != 0) return Status::error("%s cannot be read: %s", file.c_str(), std::strerror(error));
  const char* const end = text.data() + text.size();
  const auto [rest, wrong] = std::from_chars(text.data(), end, out);
  if (wrong == std::errc() && rest == end) return {};
  return Status::error("%s holds '%s', which is no number", file.c_str(), text.c_str());
}

EnergyCounter counter_of(const std::string& folder) {
  EnergyCounter counter;
  counter.file = folder + "/energy_uj";
  if (first_line(folder + "/name", counter.name) != 0) counter.name = folder.substr(folder.rfind('/') + 1);
  // "intel-rapl:0:1" is a part of "intel-rapl:0".
  const size_t last = folder.rfind(':');
  std::string whole;
  if (folder.rfind(':', last - 1) > folder.rfind('/') && folder.rfind(':', last - 1) != std::string::npos &&
      first_line(folder.substr(0, last) + "/name", whole) == 0)
    counter.name = whole + "/" + counter.name;
  uint64_t now = 0;
  Status readable = read_counter(counter, now);
  if (readable.ok()) readable = read_number(folder + "/max_energy_range_uj", counter.range);
  counter.why_not = readable.message();
  return counter;
}

std::string described(const EnergyCounter& counter, const EnergySum& sum, const std::string& why_not, double seconds) {
  const char* const name = counter.name.c_str();
  if (!why_not.empty()) return format("%-20s not read: %s\n", name, why_not.c_str());
  if (!sum.has_watts())
    return format("%-20s no watts: the counter has changed less than twice in %.1f s\n", name, seconds);
  return format("%-20s %.2f W (counts 1 uJ, changes every %.1f ms, to be read every %.0f s)\n", name, sum.watts(),
                sum.period() * 1e3, sum.longest_gap());
}

}  // namespace

Status powercap_counters(const std::string& root, std::vector<EnergyCounter>& out) {
  out.clear();
  const std::string folder = root + '/' + "class/powercap";
  if (access(folder.c_str(), F_OK) != 0)
    return Status::error("there is no %s: this is a virtual machine, or the kernel has no powercap", folder.c_str());
  // Not intel-rapl-mmio, which shows the same packages once more. Processors of AMD have the same names.
  glob_t found{};
  if (glob((folder + "/intel-rapl:*").c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) out.push_back(counter_of(found.gl_pathv[i]));
  globfree(&found);
  if (!out.empty()) return {};
  return Status::error(
      "%s has no intel-rapl:N: the kernel's module intel_rapl_msr is not loaded, or the processor has "
      "no RAPL",
      folder.c_str());
}

Status read_counter(const EnergyCounter& counter, uint64_t& microjoules) {
  return read_number(counter.file, microjoules);
}

Status EnergySum::add(uint64_t microjoules, double seconds) {
  const double gap = seconds - last_time_;
  const uint64_t before = last_;
  last_ = microjoules;
  last_time_ = seconds;
  if (changes_ < 0) {
    changes_ = 0;
    last_change_ = seconds;
    return {};
  }
  if (range_ > 0 && gap >= longest_gap())
    return Status::error("%s was not read for %.1f s, and may have wrapped around more than once: read it every %.1f s",
                         name_.c_str(), gap, longest_gap());
  if (microjoules == before) return {};
  // The counter takes the values 0 to range. It may have many readings without a change, if its updates are slow, and
  // its last update may be up to a second older than the first reading.
  const bool wrapped = microjoules < before;
  const uint64_t step = wrapped ? range_ - before + 1 + microjoules : microjoules - before;
  if (wrapped &&
      (range_ == 0 || before > range_ || static_cast<double>(step) * 1e-6 > most_watts * (seconds - last_change_ + 1)))
    return Status::error(
        "%s went backwards, from %lu to %lu uJ, which is no wrap-around at %lu uJ: its energy is unknown",
        name_.c_str(), before, microjoules, range_);
  total_ += step;
  if (changes_++ == 0) {
    first_change_ = seconds;
    total_at_first_change_ = total_;
  }
  last_change_ = seconds;
  total_at_last_change_ = total_;
  return {};
}

double EnergySum::watts() const {
  if (!has_watts()) return 0;
  return static_cast<double>(total_at_last_change_ - total_at_first_change_) * 1e-6 / (last_change_ - first_change_);
}

double EnergySum::period() const { return has_watts() ? (last_change_ - first_change_) / (changes_ - 1) : 0; }

double EnergySum::longest_gap() const { return static_cast<double>(range_) * 1e-6 / most_watts; }

Status describe_power(const std::string& root, double seconds, std::string& out) {
  std::vector<EnergyCounter> counters;
  HIROBA_TRY(powercap_counters(root, counters));
  std::vector<EnergySum> sums(counters.begin(), counters.end());
  std::vector<std::string> why_not;
  for (const EnergyCounter& counter : counters) why_not.push_back(counter.why_not);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (double now = 0; now < seconds; std::this_thread::sleep_for(std::chrono::microseconds(500)))
    for (size_t i = 0; i < counters.size(); ++i) {
      now = std::chrono::duration<double>(Clock::now() - start).count();
      uint64_t microjoules = 0;
      if (!why_not[i].empty()) continue;
      Status taken = read_counter(counters[i], microjoules);
      if (taken.ok()) taken = sums[i].add(microjoules, now);
      why_not[i] = taken.message();
    }
  out.clear();
  for (size_t i = 0; i < counters.size(); ++i) out += described(counters[i], sums[i], why_not[i], seconds);
  return {};
}

}  // namespace hiroba
