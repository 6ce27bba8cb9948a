// Bytes for memory of one rank, as start_put_packed() takes them: a sequence of words. Each piece has a head (offset <<
// 16 | bytes) and that many bytes, padded to whole words. Offsets need 48 bits.
//
// A plain piece is 1..32767 bytes for its offset. A masked piece (`masked` is set in the head) changes some of the 4096
// bytes at its offset, named by masks. It begins with two words, in which bit l stands for the 64-byte line at 64 * l
// (some of its bytes change; all do). A line of which all bytes change follows as 64 bytes. A line of which only some
// change follows as a byte in which bit w stands for its word w (some bytes change), another byte (some, not all), and
// for each word its bytes, after a mask of them if it is not whole. So it is never longer than the page, 2 bytes for
// each line, and three words. Other bytes are neither read nor written at the target, because others may write them
// concurrently.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hiroba {

using PackedWord = uint64_t;

struct Packed {
  static constexpr uint64_t masked = 0x8000, length = 0x7fff;  // in a head
  static constexpr size_t page = 4096, line = 64, lines = page / line;

  static PackedWord head(uint64_t offset, size_t bytes) { return offset << 16 | bytes; }
};

// Calls line(at, from) for 64 bytes, and word(at, mask, from) for the bytes of a word that the mask names. word()
// returns the end of the bytes that it has read.
template <typename Line, typename Word>
void unpack_masked(const PackedWord* piece, const Line& line, const Word& word) {
  const char* from = reinterpret_cast<const char*>(piece + 3);
  for (uint64_t left = piece[1]; left != 0; left &= left - 1) {
    const int number = std::countr_zero(left);
    const size_t at = static_cast<size_t>(number) * Packed::line;
    if ((piece[2] >> number & 1) != 0) {
      line(at, from);
      from += Packed::line;
      continue;
    }
    const auto words = static_cast<uint8_t>(from[0]), partial = static_cast<uint8_t>(from[1]);
    from += 2;
    for (uint32_t some = words; some != 0; some &= some - 1) {
      const int w = std::countr_zero(some);
      uint8_t mask = 0xff;
      if ((partial >> w & 1) != 0) mask = static_cast<uint8_t>(*from++);
      from = word(at + static_cast<size_t>(w) * 8, mask, from);
    }
  }
}

// Stores the bytes of a word that the mask names. The mask names a number of 2, 4 or 8 bytes as a whole; it is stored
// in one step.
inline const char* store_masked(char* to, uint8_t mask, const char* from) {
  if (mask == 0xff) return std::memcpy(to, from, 8), from + 8;
  if (mask == 0x0f || mask == 0xf0) return std::memcpy(to + (mask & 4 ? 0 : 4), from, 4), from + 4;
  // Loops over the bytes that are named: the words of an array mostly have the same few.
  if ((mask >> 1 & 0x55) == (mask & 0x55)) {
    for (uint32_t left = mask & 0x55U; left != 0; left &= left - 1, from += 2)
      std::memcpy(to + std::countr_zero(left), from, 2);
    return from;
  }
  for (uint32_t left = mask; left != 0; left &= left - 1) to[std::countr_zero(left)] = *from++;
  return from;
}

// Calls plain(offset, data, bytes) and masked(offset, piece) for the pieces; `piece` begins with its head.
template <typename Plain, typename Masked>
void for_each_piece(std::span<const PackedWord> pieces, const Plain& plain, const Masked& masked) {
  for (size_t i = 0; i < pieces.size();) {
    const uint64_t offset = pieces[i] >> 16;
    const size_t bytes = pieces[i] & Packed::length;
    if ((pieces[i] & Packed::masked) != 0) masked(offset, &pieces[i]);
    else plain(offset, &pieces[i + 1], bytes);
    i += 1 + (bytes + 7) / 8;
  }
}

// Calls put(offset, data, bytes) for each contiguous run of bytes.
template <typename Put>
void for_each_run(std::span<const PackedWord> pieces, const Put& put) {
  for_each_piece(pieces, put, [&](uint64_t offset, const PackedWord* piece) {
    const auto line = [&](size_t at, const char* from) { put(offset + at, from, Packed::line); };
    unpack_masked(piece, line, [&](size_t at, uint32_t mask, const char* from) {
      while (mask != 0) {
        const int first = std::countr_zero(mask), count = std::countr_one(mask >> first);
        put(offset + at + static_cast<size_t>(first), from, static_cast<size_t>(count));
        from += count;
        mask &= mask + (1U << first);
      }
      return from;
    });
  });
}

// Stores the pieces at address_of(offset).
template <typename AddressOf>
void scatter(std::span<const PackedWord> pieces, const AddressOf& address_of) {
  const auto plain = [&](uint64_t offset, const PackedWord* data, size_t bytes) {
    char* const to = address_of(offset);
    if (bytes == 8) std::memcpy(to, data, 8);  // the most frequent piece by far: one store
    else std::memcpy(to, data, bytes);
  };
  for_each_piece(pieces, plain, [&](uint64_t offset, const PackedWord* piece) {
    char* const to = address_of(offset);
    unpack_masked(
        piece, [to](size_t at, const char* from) { std::memcpy(to + at, from, Packed::line); },
        [to](size_t at, uint8_t mask, const char* from) { return store_masked(to + at, mask, from); });
  });
}

// Makes a masked piece of the 4096 bytes at `from`: `lines` names the lines with bytes of it, masks[l] those of line l.
// Returns its number of words at `out`, which needs room for most_masked_words.
constexpr size_t most_masked_words = 3 + (Packed::page + Packed::lines * 2) / 8 + 1;
size_t pack_masked(uint64_t offset, const char* from, uint64_t lines, const uint64_t masks[Packed::lines],
                   PackedWord* out);

}  // namespace hiroba
