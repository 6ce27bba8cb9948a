#include "launcher/info.hpp"

#include <sys/utsname.h>

#include <cstdlib>

#include "base/host.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
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
         line("TCP congestion control", describe_tcp());
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

}  // namespace

std::string describe_installation(std::string& why_bad) {
  Options options;
  why_bad = Options::from_environment(options).message();
  return "Hiroba " HIROBA_VERSION "\n\nThis machine\n" + describe_machine() +
         "\nWays to see an access that this kernel offers\n" + describe_tracking() + "\nTransports\n" + transports() +
         "\nOptions: name, variable, value now, values\n" + describe_options() +
         "\nhirobarun --help tells what each option does.\n";
}

}  // namespace hiroba
