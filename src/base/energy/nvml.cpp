// GPUs of NVIDIA by NVML, which is loaded: the driver has it. GPUs since Volta count millijoules; of older ones the
// power is integrated.
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/energy/source.hpp"

namespace hiroba {

namespace {

using Device = struct NvmlDevice*;
enum Result { success = 0, not_supported = 3, no_permission = 4 };

// nvmlPciInfo_t
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};

struct Nvml {
  Result (*init)();
  Result (*count)(unsigned*);
  Result (*device)(unsigned, Device*);
  Result (*name)(Device, char*, unsigned);
  Result (*pci)(Device, Pci*);
  Result (*energy)(Device, unsigned long long*);
  Result (*power)(Device, unsigned*);
  const char* (*error)(Result);
};

class Gpu final : public EnergySource {
 public:
  Gpu(std::shared_ptr<const Nvml> nvml, Device device) : nvml_(std::move(nvml)), device_(device) {}
  Status read(uint64_t& value) override {
    unsigned long long energy = 0;
    unsigned power = 0;
    const Result result = about.integrated ? nvml_->power(device_, &power) : nvml_->energy(device_, &energy);
    value = (about.integrated ? power : energy) * 1000;
    if (result == success) return {};
    const char* const why = nvml_->error(result);
    if (result == no_permission) return Status::error("no permission: NVML: %s", why);
    return Status::error("%s: NVML: %s", result == not_supported ? "not there" : "not readable", why);
  }
  // Chooses the counter if there is one.
  void choose() {
    unsigned long long energy = 0;
    about.integrated = nvml_->energy(device_, &energy) == not_supported;
    about.step = 1e-3, about.period = 0.1;
  }

 private:
  std::shared_ptr<const Nvml> nvml_;
  Device device_;
};

template <typename F>
bool find(void* library, const char* name, F& out) {
  out = reinterpret_cast<F>(dlsym(library, name));
  return out != nullptr;
}

// It stays loaded: threads of the driver may run.
Status load(const std::string& path, Nvml& out) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Status::error("not there: %s", dlerror());
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!find(library, name, function) && missing == nullptr) missing = name;
  };
  need("nvmlInit_v2", out.init), need("nvmlDeviceGetCount_v2", out.count);
  need("nvmlDeviceGetHandleByIndex_v2", out.device), need("nvmlDeviceGetName", out.name);
  need("nvmlDeviceGetPciInfo_v3", out.pci), need("nvmlDeviceGetTotalEnergyConsumption", out.energy);
  need("nvmlDeviceGetPowerUsage", out.power), need("nvmlErrorString", out.error);
  if (missing != nullptr) return Status::error("not readable: %s is no NVML: it has no %s", path.c_str(), missing);
  const Result result = out.init();
  if (result != success) return Status::error("not there: NVML: %s", out.error(result));
  return {};
}

}  // namespace

Status add_nvml(const std::string& library, EnergySources& out) {
  if (library == "none") return Status::error("not there: option power-nvml is none");
  const auto nvml = std::make_shared<Nvml>();
  HIROBA_TRY(load(library, *nvml));
  unsigned count = 0;
  if (nvml->count(&count) != success || count == 0) return Status::error("not there: NVML knows no GPU");
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    char name[96] = "";
    Pci pci = {};
    const Result result = nvml->device(i, &device);
    auto source = std::make_unique<Gpu>(nvml, device);
    if (result == success) {
      (void)nvml->name(device, name, sizeof name - 1);
      if (nvml->pci(device, &pci) == success)
        source->about.id = format("%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
      source->choose();
    } else {
      source->why_not =
          format("%s: NVML: %s", result == no_permission ? "no permission" : "not there", nvml->error(result));
    }
    source->about.way = "NVML", source->about.scope = EnergyScope::device;
    source->about.name = format("gpu-%u%s%s%s", i, name[0] == '\0' ? "" : " (", name, name[0] == '\0' ? "" : ")");
    add_source(std::move(source), out);
  }
  return {};
}

}  // namespace hiroba
