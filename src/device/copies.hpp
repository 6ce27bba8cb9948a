// The copies of sections on one device: where they are, and what makes room for others. README.md, "Copies".
//
// Owner: DeviceParts, whose lock guards all of it, but for what a copy says of itself.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/digest.hpp"
#include "device/stream.hpp"
#include "section/section.hpp"

namespace hiroba {

// A section whose pieces the processor's memory had when they were moved last.
struct KnownSection {
  DeviceSection section;
  std::vector<Digest> pieces;
  bool on_device = true;  // the device has the same; false: a kernel has written there since
  std::string place;      // of the call that has moved it
};

struct DeviceCopy {
  DeviceSection section;  // simplified
  char* device = nullptr;
  size_t bytes = 0;
  std::string place;  // of the call that has made it
  bool held = false;
  int lent = 0;  // to other libraries, as tensors
  uint64_t last_use = 0;
  std::string stale;  // a kernel that has written some of these bytes in another copy since; empty: none
  std::vector<DeviceStream*> users;

  std::mutex lock;  // guards the next member, for the threads of streams
  std::vector<KnownSection> known;

  // Finds a section in this copy: its blocks on the device. False if some are not there.
  bool find(const DeviceSection& section, DeviceSection& there) const;
  void add_user(DeviceStream& stream);
  // A kernel, or a move of some other section, changes these bytes on the device.
  void changed(const DeviceSection& section, bool by_kernel);
};
using DeviceCopyPtr = std::shared_ptr<DeviceCopy>;

class DeviceCopies {
 public:
  struct Rules {
    std::function<bool(const DeviceCopy&)> unsaved;  // a kernel has written it, and no overload has written it back
    std::function<std::string(const void*)> array_of;
    std::function<void(const DeviceCopy&)> forget;  // a copy is dropped
  };
  DeviceCopies(OpenDevice& device, std::string name, uint64_t most, Rules rules)
      : device_(device), name_(std::move(name)), most_(most), rules_(std::move(rules)) {}

  // Returns a copy that has the section, or null.
  DeviceCopyPtr find(const DeviceSection& section, DeviceSection& there);
  // True if some copy has some of these bytes.
  bool has_parts(const DeviceSection& section) const;
  // Makes one; may wait for streams that use others.
  Status make(const DeviceSection& section, const char* place, DeviceCopyPtr& out);
  // Makes one in the place of all that share bytes with the contiguous section, if none has the section.
  Status join(const DeviceSection& section, const char* place);
  // Drops all that lie in the section, after what uses them. Fails if one is lent.
  Status drop(const DeviceSection& section);
  // Drops those of arrays that may have been freed.
  Status drop_unused();
  void drop_all();
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const DeviceCopyPtr& copy : copies_) visit(*copy);
  }
  uint64_t used() const { return used_; }
  uint64_t most() const { return most_; }

 private:
  Status make_room(size_t bytes, const DeviceSection& section);
  Status end_uses(DeviceCopy& copy);
  Status drop(size_t index);
  Status no_room(size_t bytes, const DeviceSection& section) const;

  OpenDevice& device_;
  const std::string name_;
  const uint64_t most_;
  const Rules rules_;
  uint64_t used_ = 0, uses_ = 0;
  std::vector<DeviceCopyPtr> copies_;
};

}  // namespace hiroba
