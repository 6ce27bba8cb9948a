// Text and bytes that somebody has damaged, by mistake or on purpose. How many a test tries the variable MUTATIONS
// says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>

namespace hiroba {

inline int mutations(int usual) {
  const char* const wanted = std::getenv("MUTATIONS");
  return wanted == nullptr ? usual : std::atoi(wanted);
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}
  size_t number(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }
  uint64_t bits() { return std::uniform_int_distribution<uint64_t>()(random_); }

  // Replaces one to three stretches of the text by one of the parts, or by some of its own.
  template <size_t count>
  std::string text(std::string out, const std::string (&parts)[count]) {
    for (size_t left = 1 + number(3); left > 0; --left) {
      const size_t begin = number(out.size() + 1), end = begin + number(std::min<size_t>(out.size() - begin, 12) + 1);
      const size_t from = number(out.size() + 1);
      const std::string with = number(4) == 0 ? out.substr(from, number(40)) : parts[number(count)];
      out.replace(begin, end - begin, with);
    }
    return out;
  }
  // Writes odd values, or any, over one to eight words of memory.
  void memory(void* bytes, size_t size) {
    constexpr uint64_t odd[] = {0,
                                1,
                                UINT64_MAX,
                                uint64_t{1} << 63,
                                uint64_t{1} << 31,
                                0x7ff0000000000000,
                                0x7ff8ULL << 48,
                                0x0707070707070707,
                                0x41};
    for (size_t left = 1 + number(8); left > 0; --left) {
      const uint64_t value = number(2) == 0 ? bits() : odd[number(std::size(odd))];
      const size_t width = size_t{1} << number(4);
      if (size < width) continue;
      std::memcpy(static_cast<char*>(bytes) + number(size - width + 1), &value, width);
    }
  }

 private:
  std::mt19937 random_;
};

}  // namespace hiroba
