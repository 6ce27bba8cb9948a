#include "collective/plans/explanation.hpp"

#include <bit>
#include <cstring>
#include <mutex>

#include "base/status.hpp"
#include "base/text.hpp"

namespace hiroba {

void Explanation::note(const char* name, size_t bytes, const char* way) {
  if (!on_) return;
  const std::lock_guard<SignalSafeLock> guard(lock_);
  ++counts_[{std::string(name, std::strcspn(name, "(")), std::bit_ceil(bytes), way}];
}

std::vector<std::string> Explanation::lines() const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  std::vector<std::string> out;
  for (const auto& [key, count] : counts_) {
    const auto& [name, bytes, way] = key;
    out.push_back(format("%s, up to %s: %lu %s", name.c_str(), show_bytes(bytes).c_str(), count, way.c_str()));
  }
  return out;
}

}  // namespace hiroba
