#include "transport/wire/plugin.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "base/secure.hpp"
#include "base/tables/launchers.hpp"

namespace hiroba {

namespace {

std::string plugin_folder() {
  if (const char* const given = trusted_variable("HIROBA_PLUGINS")) return given;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&plugin_folder), &here) != 0 && here.dli_fname != nullptr)
    if (const std::string file = here.dli_fname; file.find("libhiroba") != std::string::npos)
      return file.substr(0, file.rfind('/')) + "/hiroba";
  return library_folder();
}

std::string plugin_path(const WireKind& kind, const std::string& mpi) {
  return plugin_folder() + "/" + kind.plugin_file(mpi);
}

// Returns the plug-in's table; null, with the reason, if it cannot be loaded.
const WirePlugin* load(const std::string& path, int how, void*& library, std::string& why_not) {
  library = dlopen(path.c_str(), how);
  if (library == nullptr) return why_not = dlerror(), nullptr;
  const auto get = reinterpret_cast<WirePluginFunction>(dlsym(library, "hiroba_wire_plugin"));
  if (get == nullptr) return why_not = path + " is no plug-in of Hiroba", nullptr;
  if (std::strcmp(get()->version, HIROBA_VERSION) == 0) return get();
  why_not = format("%s belongs to Hiroba %s, and this is Hiroba %s; install both together", path.c_str(),
                   get()->version, HIROBA_VERSION);
  return nullptr;
}

constexpr char absent[] = "its library was not there when Hiroba was built";

}  // namespace

std::string look_at_plugin(const WireKind& kind, const std::string& mpi, WirePlugin& out) {
  if (!has_plugin(kind, mpi)) return absent;
  void* library = nullptr;
  std::string why_not;
  // Isolates the plug-in, without RTLD_GLOBAL and by lazy binding, so that two MPIs do not mix.
  const WirePlugin* const plugin = load(plugin_path(kind, mpi), RTLD_LAZY | RTLD_LOCAL, library, why_not);
  if (plugin != nullptr) out = *plugin;
  if (library != nullptr) dlclose(library);
  return why_not;
}

bool has_plugin(const WireKind& kind, const std::string& mpi) {
  return access(plugin_path(kind, mpi).c_str(), R_OK) == 0;
}

Status load_wire(const WireKind& kind, const std::string& mpi, std::unique_ptr<Wire>& out) {
  const std::string path = plugin_path(kind, mpi);
  const std::string name = mpi.empty() ? kind.transport : format("%s (%s)", kind.transport, mpi.c_str());
  if (!has_plugin(kind, mpi))
    return Status::error("transport %s is not part of this installation (no %s); %s", name.c_str(), path.c_str(),
                         absent);
  void* library = nullptr;
  std::string why_not;
  // Loads globally, because MPI loads components of its own that look for its symbols.
  const WirePlugin* const plugin = load(path, RTLD_NOW | RTLD_GLOBAL, library, why_not);
  if (plugin == nullptr) return Status::error("transport %s cannot be loaded: %s", name.c_str(), why_not.c_str());
  out.reset(plugin->make());
  return {};
}

std::string loaded_mpi() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        const char* const slash = std::strrchr(info->dlpi_name, '/');
        const std::string_view file = slash == nullptr ? info->dlpi_name : slash + 1;
        for (const Mpi& mpi : mpis)
          if (file.starts_with(mpi.library)) *static_cast<std::string*>(result) = mpi.name;
        return 0;
      },
      &found);
  return found;
}

}  // namespace hiroba
