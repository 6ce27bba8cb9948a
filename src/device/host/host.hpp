// Host devices: threads of this processor that behave as a device does. src/device/README.md, "Host devices".
#pragma once

#include <memory>

#include "device/backend.hpp"

namespace hiroba {

std::unique_ptr<DeviceBackend> make_host_backend(const DeviceSettings& settings);

}  // namespace hiroba
