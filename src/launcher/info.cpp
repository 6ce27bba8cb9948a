#include "launcher/info.hpp"

#include <signal.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/backing/node_memory.hpp"
#include "base/limits.hpp"
#include "base/machine/host.hpp"
#include "base/machine/numa.hpp"
#include "base/machine/numa_calls.hpp"
#include "base/machine/proc.hpp"
#include "base/tables/options.hpp"
#include "base/text.hpp"
#include "device/device.hpp"
#include "launcher/machine.hpp"
#include "launcher/processes.hpp"
#include "memory/memory.hpp"
#include "transport/transport.hpp"

namespace hiroba {

namespace {

std::string line(const char* what, const std::string& value) { return format("  %-22s %s\n", what, value.c_str()); }

std::string describe_tcp() {
  std::string name = tcp_congestion_control();
  if (!is_paced(name)) return name;
  return name + ", which paces data; between the hosts of a cluster more bandwidth with\n" + std::string(25, ' ') +
         "sysctl net.ipv4.tcp_congestion_control=cubic";
}

std::string describe_huge_pages() {
  const std::string why_not = why_no_huge_first_touch();
  if (why_not.empty()) return "at the first touch of shared memory";
  return "by collapsing what has been used for some time; not at the first touch: " + why_not;
}

std::string describe_machine() {
  Machine machine;
  const Status loaded = machine.load();
  if (!loaded.ok()) return line("topology", loaded.message());
  utsname system;
  uname(&system);
  const MemoryState memory = memory_state();
  return line("host", format("%s, %s %s, %s", system.nodename, system.sysname, system.release, system.machine)) +
         line("processor", machine.processor()) +
         line("cores", format("%d, with %d hardware threads", machine.cores(), machine.hardware_threads())) +
         line("NUMA nodes", format("%d", machine.numa_nodes())) +
         line("memory", format("%s, %s free", show_bytes(memory.total).c_str(), show_bytes(memory.available).c_str())) +
         line("huge pages", describe_huge_pages()) + line("TCP congestion control", describe_tcp());
}

std::string describe_tracking() {
  std::string text;
  for (const TrackingWay& way : tracking_ways())
    text += format("  %-42s %s\n", way.name, way.why_not.empty() ? "yes" : ("no: " + way.why_not).c_str());
  return text;
}

std::string transports() {
  std::string text;
  for (const TransportEntry& entry : describe_transports()) {
    text += line(entry.name, entry.summary);
    for (const std::string& found : entry.found) text += "    " + found + "\n";
    for (const Capability& capability : entry.capabilities)
      text +=
          format("    %-22s %s\n", capability.name, capability.native ? "native" : "emulated on put, get and messages");
  }
  return text;
}

std::string describe_options() {
  std::string text;
  for (const Option& option : option_table()) {
    const std::string variable = environment_name(option);
    const char* set = std::getenv(variable.c_str());
    const std::string value = set == nullptr ? option.fallback : format("%s (default: %s)", set, option.fallback);
    text += format("  --%-20s %-20s %-20s %s\n", option.name, variable.c_str(), value.c_str(), option.choices);
  }
  return text;
}

// Returns a domain's "MemTotal" or "MemFree".
std::string memory_of_domain(int domain, const std::string& what) {
  const auto kib = number_after(what + ":", format("%s/node%d/meminfo", kernel_domains, domain));
  return kib ? show_bytes(*kib << 10) : "?";
}

// Returns option space of a process.
uint64_t space_of(const std::string& process) {
  for (const Option& option : option_table()) {
    if (std::strcmp(option.name, "space") != 0) continue;
    const std::string name = environment_name(option) + "=";
    std::ifstream environment("/proc/" + process + "/environ");
    std::string value = option.fallback;
    for (std::string entry; std::getline(environment, entry, '\0');)
      if (entry.starts_with(name)) value = entry.substr(name.size());
    return parse_bytes(value).value_or(0);
  }
  return 0;
}

// An address range of arrays in the node's memory file that a process has mapped.
struct Mapping {
  uint64_t begin, end;
};
std::vector<Mapping> shared_mappings(const std::string& process) {
  std::vector<Mapping> out;
  const uint64_t space = space_of(process);
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0, offset = 0;
    if (memory_file_name(line) != "hiroba-node") continue;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %llx", &begin, &end, &offset) != 3) continue;
    if (begin - offset != shared_base || offset >= space) continue;  // another view, or the library's own part
    const uint64_t last = std::min<uint64_t>(end, shared_base + space);
    if (!out.empty() && out.back().end == begin) out.back().end = last;
    else out.push_back({begin, last});
  }
  return out;
}

Status unseen(const std::string& process, const std::string& why) {
  return Status::error(
      "info --memory: the kernel does not say where the pages of process %s are (%s); you must be its owner, and "
      "allowed to trace it",
      process.c_str(), why.c_str());
}

// Appends the parts of a mapping that are in use, without gaps of 1 GiB: the heap reserves far more addresses than it
// uses. Returns a smaller mapping whole.
Status parts_in_use(const std::string& process, const Mapping& mapping, std::vector<Mapping>& out) {
  constexpr uint64_t gap = uint64_t{1} << 30, used = uint64_t{3} << 62;  // present, or swapped out
  if (mapping.end - mapping.begin < gap) {
    out.push_back(mapping);
    return {};
  }
  std::ifstream pagemap("/proc/" + process + "/pagemap", std::ios::binary);
  pagemap.seekg(static_cast<std::streamoff>(mapping.begin / page_bytes * sizeof(uint64_t)));
  const size_t before = out.size();
  std::vector<uint64_t> entries(65536);
  for (uint64_t at = mapping.begin; at < mapping.end;) {
    const uint64_t count = std::min<uint64_t>(entries.size(), (mapping.end - at) / page_bytes);
    if (!pagemap.read(reinterpret_cast<char*>(entries.data()), static_cast<std::streamsize>(count * sizeof(uint64_t))))
      return unseen(process, "its pagemap cannot be read");
    for (uint64_t i = 0; i < count; ++i, at += page_bytes) {
      if ((entries[i] & used) == 0) continue;
      if (out.size() == before || at - out.back().end >= gap) out.push_back({at, at});
      out.back().end = at + page_bytes;
    }
  }
  return {};
}

}  // namespace

std::string describe_domains() {
  const std::vector<int> domains = numa_domains();
  const NumaDistances distances = NumaDistances::load();
  std::string text = domains.size() == 1 ? "This machine has one NUMA domain: all memory is equally near.\n"
                                         : format("This machine has %zu NUMA domains.\n", domains.size());
  text += "\n  domain  CPUs                 memory       free         distance to each domain\n";
  for (const int domain : domains) {
    std::string row;
    for (const int other : domains) row += format(" %3d", distances.between(domain, other));
    text +=
        format("  %6d  %-20s %-12s %-12s%s\n", domain, show_numbers(cpus_of_domain(domain)).c_str(),
               memory_of_domain(domain, "MemTotal").c_str(), memory_of_domain(domain, "MemFree").c_str(), row.c_str());
  }
  return text + "\nhiroba info --memory PID shows where the pages of a running rank lie.\n";
}

Status describe_memory_of(const std::string& process, std::string& out) {
  const int pid = std::atoi(process.c_str());
  if (pid <= 0 || kill(pid, 0) != 0)
    return Status::error(
        "info --memory: there is no process %s that you may look at; give the number of a rank's process, as ps shows "
        "it",
        process.c_str());
  if (!is_own_process(pid))
    return Status::error("info --memory: process %d is of another user, who alone may look at it", pid);
  const std::vector<Mapping> mappings = shared_mappings(process);
  if (mappings.empty())
    return Status::error("info --memory: process %d has no shared arrays: is it a rank of a job of Hiroba?", pid);
  std::vector<Mapping> parts;
  for (const Mapping& mapping : mappings) HIROBA_TRY(parts_in_use(process, mapping, parts));
  for (const Mapping& part : parts) {
    std::vector<void*> pages;
    for (uint64_t at = part.begin; at < part.end; at += page_bytes) pages.push_back(reinterpret_cast<void*>(at));
    std::vector<int> where(pages.size(), Affinity::absent);
    if (const int error = query_pages(pid, pages, where); error != 0)
      return unseen(process, "move_pages: " + explain_error(error));
    out +=
        format("shared memory at %p, %s at home on this node\n", pages[0], show_bytes(part.end - part.begin).c_str()) +
        show_domains(where);
  }
  out += "Not in use: or not touched by this process yet.\n";
  return {};
}

std::string describe_installation(std::string& why_bad) {
  Options options;
  why_bad = Options::from_environment(options).message();
  return "Hiroba " HIROBA_VERSION "\n\nThis machine\n" + describe_machine() +
         "\nWays to see an access that this kernel offers\n" + describe_tracking() + "\nTransports\n" + transports() +
         "\nDevices\n" + describe_devices() + "\nOptions: name, variable, value now, values\n" + describe_options() +
         "\nhirobarun --help tells what each option does.\n";
}

}  // namespace hiroba
