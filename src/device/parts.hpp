// The parts of one rank's devices, for the files that implement this floor. Owner: Devices. `lock` guards all but
// what threads of streams use: `helpers`, and each stream and copy by its own rules.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "device/copies.hpp"
#include "device/device.hpp"
#include "device/helpers.hpp"
#include "device/order.hpp"
#include "device/pins.hpp"
#include "device/stream.hpp"

namespace hiroba {

struct UsedDevice {
  DeviceDescription description;
  uint64_t cache = 0;
  std::unique_ptr<OpenDevice> open;  // at its first use
  std::unique_ptr<DeviceCopies> copies;
  std::vector<DeviceStream*> shared;  // by tasks
  size_t next = 0;                    // of these
};

struct DeviceParts {
  DeviceParts();

  DeviceSettings settings;
  DeviceSurroundings around;
  std::mutex lock;
  std::vector<std::unique_ptr<DeviceBackend>> backends;
  DeviceBackend* backend = nullptr;  // the one that is used
  std::string why_none;
  bool found = false;
  std::vector<UsedDevice> devices;  // of this rank
  std::vector<std::unique_ptr<DeviceStream>> streams;
  DeviceOrder order;
  Helpers helpers;
  DevicePins pins;
  uint64_t changes_seen = 0;
  std::atomic<uint64_t> preloaded{0}, unchanged{0}, overloaded{0}, forwarded{0}, directly{0};

  // All of these require the lock.
  Status find_devices();
  Status device(int number, UsedDevice*& out);
  Status make_stream(int device, DeviceStream*& out);
  Status order_streams(DeviceStream& later, DeviceStream& earlier);
  Status drop_freed();
  std::string describe(const DeviceSection& section) const;  // "2 MiB that begin at a[0]"
  std::string name_of_device(int number) const;              // "0 (NVIDIA H100) of rank 1"

 private:
  Status choose(std::vector<DeviceDescription>& all);
  Status open(UsedDevice& device, int number);
};

}  // namespace hiroba
