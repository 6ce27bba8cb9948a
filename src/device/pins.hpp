// Shared arrays whose memory devices read and write by themselves, without buffers: it is registered with their driver,
// in blocks, at the first large move, and until the array may have been freed.
//
// Owner: DeviceParts. Thread-safe, but for start and release_all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "device/backend.hpp"

namespace hiroba {

class DevicePins {
 public:
  // steady(at, begin, end): true if an array is there whose memory is always that of this node, and whose accesses
  // nobody tracks; sets its ends.
  using Steady = std::function<bool(const char* at, char*& begin, char*& end)>;
  static constexpr uint64_t block_bytes = uint64_t{32} << 20;
  void start(Steady steady) { steady_ = std::move(steady); }
  // Returns true if copies between these bytes and devices need no buffer; each copy must lie in one block, which ends
  // at a multiple of its size. Blocks while the driver registers memory.
  bool cover(OpenDevice& device, const char* at, size_t bytes);
  // No copy is under way.
  void release_all();

 private:
  bool pin(OpenDevice& device, char* begin, char* end);

  Steady steady_;
  std::mutex lock_;               // guards the next two members
  OpenDevice* device_ = nullptr;  // which has registered them
  std::map<char*, bool> blocks_;  // by their begin; false: the driver cannot register it
};

}  // namespace hiroba
