// Devices of NVIDIA, by the driver's interface, which is loaded when devices are looked for.
#pragma once

#include <memory>

#include "device/backend.hpp"

namespace hiroba {

std::unique_ptr<DeviceBackend> make_cuda_backend();

}  // namespace hiroba
