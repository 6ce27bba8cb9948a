// Common to the entry points of device.h.
#pragma once

#define HIROBA_NO_PLACES
#include <vector>

#include "device.h"
#include "device/device.hpp"
#include "notation/collective/collective_process.hpp"

namespace hiroba {

Devices& devices();  // of the process
// These end the job if the arguments are not right.
DeviceSection section_of(const CheckedCall& call, const hiroba_section& section);
std::vector<DeviceAccess> accesses_of(const CheckedCall& call, const hiroba_kernel& kernel,
                                      const hiroba_access* accesses, int count);

}  // namespace hiroba
