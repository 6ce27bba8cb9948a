// The contract between this floor and its backends, the kinds of devices: each is a room, and a line in registry.cpp.
//
// A device has memory of its own, queues, and events. What is put into a queue happens later, in this order, while the
// caller goes on; queues are independent of each other but for events. Errors of such work arrive with the next event.
// All functions are thread-safe, but for each single queue and event; only Event::wait blocks, and allocations may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "device/device.hpp"

namespace hiroba {

// Rows of a box: `rows` blocks of `bytes` bytes, which begin `to` and `from` bytes apart on the two sides.
struct DeviceRows {
  size_t bytes;
  int64_t rows, to, from;
};

class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // True if all that was in the queue when the event was last recorded has happened; true before that.
  virtual Status done(bool& out) = 0;
  virtual Status wait() = 0;
};

// A kernel as a queue runs it; `allocations` have all memory that it uses.
struct KernelRun {
  std::string what;  // "kernel update at main.c:12, on device 0 of rank 1", for messages
  DeviceFunction function = nullptr;
  std::vector<void*> data;
  std::vector<const char*> allocations;
  std::vector<char> argument;
};

class OpenDevice;

class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  // Copies from and to pinned memory, which stays as it is until the copy has happened.
  virtual Status to_device(char* to, const char* from, const DeviceRows& rows) = 0;
  virtual Status to_host(char* to, const char* from, const DeviceRows& rows) = 0;
  // Copies from the memory of any device of this process.
  virtual Status from_device(char* to, OpenDevice& source, const char* from, size_t bytes) = 0;
  virtual Status run(KernelRun run) = 0;
  virtual void* native() const { return nullptr; }  // the stream of other interfaces
  virtual Status record(DeviceEvent& event) = 0;
  virtual Status wait(DeviceEvent& event) = 0;  // what is put into the queue later happens after the event
};

// A device that this process uses.
class OpenDevice {
 public:
  virtual ~OpenDevice() = default;
  virtual Status enter() = 0;  // precedes the use of queues in a thread of this floor
  // Sets null if there is no such room.
  virtual Status allocate(size_t bytes, char*& out) = 0;
  virtual void release(char* allocation) = 0;
  // The processor may use an allocation from now on, or not any more; calls are counted.
  virtual void open(const char* allocation, bool yes) { (void)allocation, (void)yes; }
  virtual Status allocate_pinned(size_t bytes, char*& out) = 0;
  virtual void release_pinned(char* allocation) = 0;
  // Makes memory that is there already like that of allocate_pinned(), for all devices of this process; false if that
  // is not possible. It begins and ends at pages.
  virtual bool pin(char* begin, size_t bytes) = 0;
  virtual void unpin(char* begin) = 0;
  // Returns where the processor reaches device memory; null: through queues alone.
  virtual char* window(const char* device) { return (void)device, nullptr; }
  virtual Status make_queue(std::unique_ptr<DeviceQueue>& out) = 0;
  virtual Status make_event(std::unique_ptr<DeviceEvent>& out) = 0;
};

class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  virtual const char* name() const = 0;  // as in option devices
  virtual DeviceKind kind() const = 0;
  // Finds the devices of this machine. Fails with the reason why there are none.
  virtual Status find(std::vector<DeviceDescription>& out) = 0;
  virtual Status open(int number, std::unique_ptr<OpenDevice>& out) = 0;
};

// Backends, the first that option devices = auto tries in front. `settings` have what a host device needs.
std::vector<std::unique_ptr<DeviceBackend>> device_backends(const DeviceSettings& settings);

}  // namespace hiroba
