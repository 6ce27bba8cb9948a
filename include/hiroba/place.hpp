// place.hpp: "file:line" of a place in the program, for the calls of C. For the other headers of this folder.
#pragma once

#include <charconv>
#include <cstring>
#include <source_location>

namespace hiroba::detail {

class place {
 public:
  constexpr place() : text_{} {}
  explicit place(const std::source_location& where) {
    const size_t most = sizeof text_ - 24, length = std::strlen(where.file_name());
    const size_t used = length < most ? length : most;
    std::memcpy(text_, where.file_name() + (length - used), used);  // the end of a long name
    text_[used] = ':';
    *std::to_chars(text_ + used + 1, text_ + sizeof text_ - 1, where.line()).ptr = '\0';
  }
  operator const char*() const { return text_; }

 private:
  char text_[256];
};

}  // namespace hiroba::detail
