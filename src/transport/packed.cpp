#include "transport/packed.hpp"

namespace hiroba {

namespace {

// Sets bit b if byte b of the mask is not 0.
uint8_t any_of_bytes(uint64_t mask) {
  constexpr uint64_t low = 0x7f7f7f7f7f7f7f7f;
  const uint64_t high = (((mask & low) + low) | mask) & ~low;
  return static_cast<uint8_t>((high >> 7) * 0x0102040810204080 >> 56);
}

char* pack_word(char* to, const char* from, uint8_t mask) {
  *to++ = static_cast<char>(mask);
  for (uint32_t left = mask; left != 0; left &= left - 1) *to++ = from[std::countr_zero(left)];
  return to;
}

char* pack_line(char* to, const char* from, uint64_t mask) {
  const uint8_t words = any_of_bytes(mask), partial = words & any_of_bytes(~mask);
  to[0] = static_cast<char>(words), to[1] = static_cast<char>(partial);
  to += 2;
  for (uint32_t left = words; left != 0; left &= left - 1) {
    const int w = std::countr_zero(left);
    const char* const word = from + static_cast<ptrdiff_t>(8) * w;
    if ((partial >> w & 1) == 0) std::memcpy(to, word, 8), to += 8;
    else to = pack_word(to, word, static_cast<uint8_t>(mask >> 8 * w));
  }
  return to;
}

}  // namespace

size_t pack_masked(uint64_t offset, const char* from, uint64_t lines, const uint64_t masks[Packed::lines],
                   PackedWord* out) {
  uint64_t whole = 0;
  char* to = reinterpret_cast<char*>(out + 3);
  for (uint64_t left = lines; left != 0; left &= left - 1) {
    const int line = std::countr_zero(left);
    const char* const bytes = from + static_cast<size_t>(line) * Packed::line;
    if (masks[line] == ~uint64_t{0}) {
      whole |= uint64_t{1} << line;
      std::memcpy(to, bytes, Packed::line);
      to += Packed::line;
    } else {
      to = pack_line(to, bytes, masks[line]);
    }
  }
  const auto size = static_cast<size_t>(to - reinterpret_cast<char*>(out + 1));
  out[0] = Packed::head(offset, Packed::masked | size);
  out[1] = lines, out[2] = whole;
  return 1 + (size + 7) / 8;
}

}  // namespace hiroba
