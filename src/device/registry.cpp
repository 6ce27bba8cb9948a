// The kinds of devices, one line each.
#include "device/backend.hpp"
#include "device/cuda/cuda.hpp"
#include "device/host/host.hpp"

namespace hiroba {

std::vector<std::unique_ptr<DeviceBackend>> device_backends(const DeviceSettings& settings) {
  std::vector<std::unique_ptr<DeviceBackend>> out;
  out.push_back(make_cuda_backend());
  out.push_back(make_host_backend(settings));
  return out;
}

}  // namespace hiroba
