// Finds mistakes in the order of preloads, kernels and overloads while the program makes the calls, whatever devices do
// meanwhile: uses of a section that nothing orders, kernels whose data nobody has brought, overloads of what no
// kernel has written. README.md, "Order".
//
// Owner: DeviceParts. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "device/device.hpp"

namespace hiroba {

// The calls of each stream that come before something, by their number.
using DeviceClock = std::vector<uint64_t>;

struct DeviceUse {
  enum class Kind { preload, overload, reads, writes };  // the latter two: of a kernel
  Kind kind;
  DeviceSection section;
  int device = 0;
  std::string place = {};
  std::string kernel = {};     // its name; empty: a forward
  const void* copy = nullptr;  // that has the section; null: none yet
  // Tasks that use the same section are in order if one of them writes it. So preloads by tasks that read it move
  // nothing while others read.
  bool of_task = false;
  // DeviceOrder sets the rest.
  size_t stream = 0;
  uint64_t number = 0;        // of the call, in the stream
  bool written_back = false;  // of what a kernel writes

  bool to_device() const { return kind == Kind::preload || kind == Kind::writes; }
  bool on_host() const { return kind == Kind::preload || kind == Kind::overload; }
  std::string what() const;  // "kernel update at main.c:12"
};

class DeviceOrder {
 public:
  using Describe = std::function<std::string(const DeviceSection&)>;  // "2 MiB that begin at a[0]"
  explicit DeviceOrder(Describe describe) : describe_(std::move(describe)) {}

  size_t add_stream();
  // Begins a call with a stream: returns its clock, which holds for all uses of the call.
  DeviceClock begin(size_t stream);
  void after(size_t later, size_t earlier);
  // The program has waited for a call with this clock.
  void waited(const DeviceClock& clock);

  // Adds a use of the call that a stream has begun last. Sets `nothing` where the use is a mistake whose other side may
  // be still to come: then the call does nothing, and the next one returns the message.
  Status add(DeviceUse use, size_t stream, bool& nothing);
  // Returns the mistake that was not told yet.
  Status told();
  // Returns the streams with preloads of a task's section that must come before its own.
  std::vector<size_t> preloads_before(const DeviceUse& use, size_t stream) const;
  void forget(const void* copy);
  size_t uses() const { return uses_.size(); }
  // Returns the use by a kernel whose writes to this copy are not written back; null if there is none.
  const DeviceUse* unsaved(const void* copy) const;

 private:
  Status tell_pending(const DeviceUse& now);
  Status find_unordered(const DeviceUse& now, const DeviceClock& clock) const;
  void record(DeviceUse now, const DeviceClock& clock);
  bool has(DeviceUse::Kind a, DeviceUse::Kind b, const DeviceUse& now) const;
  const DeviceUse* unsaved_bytes(const DeviceUse& now) const;

  const Describe describe_;
  std::vector<DeviceClock> streams_;
  DeviceClock program_;
  std::vector<DeviceUse> uses_;
  bool pending_ = false;
  DeviceUse pending_use_ = {};
};

}  // namespace hiroba
