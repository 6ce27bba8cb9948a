// Ranges of free offsets, of which neighbours are joined. Not thread-safe.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace hiroba {

class FreeRanges {
 public:
  const std::map<uint64_t, uint64_t>& ranges() const { return ranges_; }  // begin, bytes
  void clear() { ranges_.clear(); }

  void add(uint64_t begin, uint64_t bytes) {
    const auto after = ranges_.lower_bound(begin);
    if (after != ranges_.end() && begin + bytes == after->first) bytes += after->second, ranges_.erase(after);
    const auto next = ranges_.lower_bound(begin);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == begin) return void(before->second += bytes);
    }
    ranges_[begin] = bytes;
  }

  // Removes [begin, begin + bytes), which must lie in one range.
  void remove(uint64_t begin, uint64_t bytes) {
    const auto at = std::prev(ranges_.upper_bound(begin));
    const uint64_t first = at->first, end = first + at->second;
    ranges_.erase(at);
    if (begin > first) ranges_[first] = begin - first;
    if (end > begin + bytes) ranges_[begin + bytes] = end - begin - bytes;
  }

  // Removes the first room for `bytes` that begins at a multiple of `unit`; false if there is none.
  bool take(uint64_t bytes, uint64_t unit, uint64_t& begin) {
    for (const auto& [first, size] : ranges_) {
      begin = (first + unit - 1) / unit * unit;
      if (begin - first + bytes > size) continue;
      remove(begin, bytes);
      return true;
    }
    return false;
  }

 private:
  std::map<uint64_t, uint64_t> ranges_;
};

}  // namespace hiroba
