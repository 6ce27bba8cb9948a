// The program's call, as values for messages and for comparison between ranks.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace hiroba {

struct Call {
  const char* name;   // "xmp_sync_image"
  const char* place;  // "main.c:12", or empty
  std::string text() const { return *place == '\0' ? name : format("%s at %s", name, place); }
  // Writes the text, cut to the size of `out`, without allocation.
  const char* write(std::span<char> out) const {
    char* at = out.data();
    char* const end = at + out.size() - 1;
    for (const char* part : {name, *place == '\0' ? "" : " at ", place})
      while (*part != '\0' && at < end) *at++ = *part++;
    *at = '\0';
    return out.data();
  }
};

// The name of a collective operation, with all that must be equal on all ranks: "hiroba_reduce(sum of 3 double to rank
// 0)".
class CallName {
 public:
  explicit CallName(const char* call) { *this << call; }
  CallName& operator<<(std::string_view part) {
    const size_t bytes = std::min(part.size(), most - used_);
    std::memcpy(text_ + used_, part.data(), bytes);
    used_ += bytes;
    return *this;
  }
  CallName& operator<<(int64_t number) {
    used_ = static_cast<size_t>(std::to_chars(text_ + used_, text_ + most, number).ptr - text_);
    return *this;
  }
  const char* text() const { return text_; }
  // Writes the name in `room` characters. A longer name loses its middle: the call is at its begin, the root at its
  // end.
  template <size_t room>
  static void shorten(const char* name, char (&out)[room]) {
    constexpr size_t first = (room - 3) / 2, last = room - 3 - first;
    const size_t size = std::strlen(name);
    std::memset(out, 0, room);
    if (size < room) return void(std::memcpy(out, name, size));
    std::memcpy(out, name, first), std::memcpy(out + first, "..", 2);
    std::memcpy(out + first + 2, name + size - last, last);
  }
  operator const char*() const { return text_; }

 private:
  static constexpr size_t most = 95;
  char text_[most + 1] = {};
  size_t used_ = 0;
};

}  // namespace hiroba
