#include "device/pins.hpp"

#include <algorithm>

namespace hiroba {

namespace {

// The driver needs milliseconds for a block, so what is smaller goes by buffers.
constexpr size_t least_bytes = size_t{4} << 20;
constexpr uintptr_t page = 4096;

uintptr_t address(const char* at) { return reinterpret_cast<uintptr_t>(at); }

}  // namespace

bool DevicePins::cover(OpenDevice& device, const char* at, size_t bytes) {
  char *begin = nullptr, *end = nullptr;
  if (bytes < least_bytes || steady_ == nullptr || !steady_(at, begin, end) || at + bytes > end) return false;
  end += (page - address(end) % page) % page;
  const std::lock_guard<std::mutex> guard(lock_);
  for (uintptr_t block = address(at) / block_bytes * block_bytes; block < address(at) + bytes; block += block_bytes) {
    char* const first = begin + (std::max(block, address(begin)) - address(begin));
    if (!pin(device, first, begin + (std::min(block + block_bytes, address(end)) - address(begin)))) return false;
  }
  return true;
}

bool DevicePins::pin(OpenDevice& device, char* begin, char* end) {
  const auto found = blocks_.find(begin);
  if (found != blocks_.end()) return found->second;
  if (device_ == nullptr) device_ = &device;
  return blocks_[begin] = device_->pin(begin, static_cast<size_t>(end - begin));
}

void DevicePins::release_all() {
  for (const auto& [begin, pinned] : blocks_)
    if (pinned) device_->unpin(begin);
  blocks_.clear();
}

}  // namespace hiroba
