#include "transport/net/plugin.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace hiroba {

namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string plugin_folder() {
  if (const char* const given = std::getenv("HIROBA_PLUGINS")) return given;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&plugin_folder), &here) != 0 && here.dli_fname != nullptr &&
      std::strstr(here.dli_fname, "libhiroba") != nullptr)
    return folder_of(here.dli_fname) + "/hiroba";
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  return folder_of(folder_of(std::string(program, static_cast<size_t>(std::max<ssize_t>(length, 0))))) + "/lib/hiroba";
}

std::string plugin_path(const std::string& transport, const std::string& flavour) {
  return plugin_folder() + "/wire-" + transport + (flavour.empty() ? "" : "-" + flavour) + ".so";
}

// The table of a library that is loaded, if it is ours.
Status table_of(void* library, const std::string& path, const WirePlugin*& out) {
  const auto get = reinterpret_cast<WirePluginFunction>(dlsym(library, "hiroba_wire_plugin"));
  if (get == nullptr) return Status::error(format("%s is no plug-in of Hiroba", path.c_str()));
  const WirePlugin* const plugin = get();
  if (std::strcmp(plugin->version, HIROBA_VERSION) != 0)
    return Status::error(format("%s belongs to Hiroba %s, and this is Hiroba %s; install both together", path.c_str(),
                                plugin->version, HIROBA_VERSION));
  out = plugin;
  return {};
}

Status open_plugin(const std::string& transport, const std::string& flavour, const WirePlugin*& out) {
  const std::string path = plugin_path(transport, flavour);
  const std::string name = flavour.empty() ? transport : transport + " (" + flavour + ")";
  if (access(path.c_str(), R_OK) != 0)
    return Status::error(
        format("transport %s is not part of this installation (no %s); its library was not there when "
               "Hiroba was built",
               name.c_str(), path.c_str()));
  // Global, because MPI loads components of its own that look for its symbols.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return Status::error(format("transport %s cannot be loaded: %s", name.c_str(), dlerror()));
  return table_of(library, path, out);
}

}  // namespace

std::vector<WireEntry> known_wires() {
  std::vector<WireEntry> entries = {{"mpi", "openmpi"},    {"mpi", "mpich"},    {"ucx", ""},
                                    {"gasnet", "openmpi"}, {"gasnet", "mpich"}, {"armci", "mpich"}};
  for (WireEntry& entry : entries) {
    // In a process of its own, as it were: without RTLD_GLOBAL and only resolved, so that two MPIs do not meet.
    const std::string path = plugin_path(entry.transport, entry.flavour);
    if (access(path.c_str(), R_OK) != 0) {
      entry.why_not = "its library was not there when Hiroba was built";
      continue;
    }
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      entry.why_not = dlerror();
      continue;
    }
    const WirePlugin* plugin = nullptr;
    entry.why_not = table_of(library, path, plugin).message();
    if (plugin == nullptr) continue;
    entry.one_sided = plugin->one_sided, entry.accumulates = plugin->accumulates;
    dlclose(library);
  }
  return entries;
}

bool has_plugin(const std::string& transport, const std::string& flavour) {
  return access(plugin_path(transport, flavour).c_str(), R_OK) == 0;
}

Status load_wire(const std::string& transport, const std::string& flavour, std::unique_ptr<Wire>& out) {
  const WirePlugin* plugin = nullptr;
  HIROBA_TRY(open_plugin(transport, flavour, plugin));
  out.reset(plugin->make());
  return {};
}

std::string loaded_mpi() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        const char* const slash = std::strrchr(info->dlpi_name, '/');
        const char* const file = slash == nullptr ? info->dlpi_name : slash + 1;
        if (std::strncmp(file, "libmpi.so", 9) == 0) *static_cast<std::string*>(result) = "openmpi";
        if (std::strncmp(file, "libmpich.so", 11) == 0) *static_cast<std::string*>(result) = "mpich";
        return 0;
      },
      &found);
  return found;
}

}  // namespace hiroba
