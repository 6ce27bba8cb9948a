// Moves a section between the memory of the processor and a device, in pieces: packed into pinned buffers by several
// threads while earlier pieces are on their way; or straight, where the processor reaches the device's memory.
//
// For the thread of a stream. The functions return when the processor's memory is not used any more.
#pragma once

#include <atomic>

#include "device/copies.hpp"
#include "device/helpers.hpp"

namespace hiroba {

struct DeviceMove {
  DeviceStream& stream;
  Helpers& helpers;
  size_t piece;  // bytes, at most
  DeviceSection host, there;
  DeviceCopy& copy;
  std::string place;
};

// Sets the bytes that were moved; what the device has already is not moved again.
Status move_to_device(const DeviceMove& move, uint64_t& moved);
Status move_to_host(const DeviceMove& move);

// For option check. Notes what the section has now, or, if the kernel `reads` it, had when it was moved; for the
// program's thread. Waits for the stream.
Status note_content(const DeviceMove& move, bool reads);
// Fails if the program has changed the section since.
Status check_unchanged(const DeviceMove& move);

}  // namespace hiroba
