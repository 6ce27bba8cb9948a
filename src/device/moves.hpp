// Moves a section between the memory of the processor and a device, in pieces: packed into pinned buffers by several
// threads while earlier pieces are on their way; by the device itself, where it reaches the processor's memory; or by
// the processor, where that reaches the device's.
//
// For the thread of a stream. The functions return when the processor's memory is not used any more.
#pragma once

#include <atomic>

#include "device/copies.hpp"
#include "device/helpers.hpp"
#include "device/pins.hpp"

namespace hiroba {

struct DeviceMove {
  DeviceStream& stream;
  Helpers& helpers;
  DevicePins& pins;
  size_t piece;  // bytes, at most
  DeviceSection host, there;
  DeviceCopy& copy;
  std::string place;
};

// Moves tell the bytes that were moved; what the device has already is not moved to it again.
struct DeviceMoved {
  uint64_t bytes = 0, directly = 0;  // directly: without buffers
};
Status move_to_device(const DeviceMove& move, DeviceMoved& moved);
Status move_to_host(const DeviceMove& move, DeviceMoved& moved);

// For option check. Notes what the section has now, or, if the kernel `reads` it, had when it was moved; for the
// program's thread. Waits for the stream.
Status note_content(const DeviceMove& move, bool reads);
// Fails if the program has changed the section since.
Status check_unchanged(const DeviceMove& move);

}  // namespace hiroba
