#include "memory/diff.hpp"

#include <atomic>
#include <bit>
#include <cstring>

namespace hiroba {

namespace {

constexpr size_t block_words = 8;  // a cache line

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HIROBA_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HIROBA_VECTOR_CLONES
#endif

// Bit b is set if cache line b of the page differs from the twin.
HIROBA_VECTOR_CLONES uint64_t differing_lines(const uint64_t* page, const uint64_t* twin) {
  uint64_t mask = 0;
  for (size_t line = 0; line < page_bytes / 64; ++line) {
    uint64_t any = 0;
    for (size_t i = 0; i < block_words; ++i) any |= page[line * block_words + i] ^ twin[line * block_words + i];
    mask |= static_cast<uint64_t>(any != 0) << line;
  }
  return mask;
}

// Collects bytes into pieces: a piece grows while the changed bytes are adjacent.
class PieceWriter {
 public:
  PieceWriter(uint64_t offset, uint64_t* out) : offset_(offset), out_(out) {}

  void add(size_t at, const unsigned char* bytes, size_t count) {
    if (size_ == 0 || at != begin_ + size_) finish(), begin_ = at;
    std::memcpy(reinterpret_cast<unsigned char*>(out_ + used_ + 1) + size_, bytes, count);
    size_ += count;
  }

  size_t finish() {
    if (size_ != 0) {
      out_[used_] = (offset_ + begin_) << 16 | size_;
      used_ += 1 + (size_ + 7) / 8;
      size_ = 0;
    }
    return used_;
  }

 private:
  uint64_t offset_;
  uint64_t* out_;
  size_t used_ = 0, begin_ = 0, size_ = 0;
};

void add_changed_bytes(PieceWriter& pieces, size_t at, uint64_t now, uint64_t before) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&now);
  const uint64_t difference = now ^ before;
  const auto* changed = reinterpret_cast<const unsigned char*>(&difference);
  for (size_t b = 0; b < 8; ++b)
    if (changed[b] != 0) pieces.add(at + b, bytes + b, 1);
}

// True if every byte of the word changed.
bool all_bytes_differ(uint64_t difference) {
  constexpr uint64_t low = 0x0101010101010101, high = 0x8080808080808080;
  return ((difference - low) & ~difference & high) == 0;
}

}  // namespace

size_t diff_page(const void* page, void* twin, uint64_t offset, uint64_t* out) {
  const auto* now = static_cast<const uint64_t*>(page);
  auto* before = static_cast<uint64_t*>(twin);
  PieceWriter pieces(offset, out);
  for (uint64_t lines = differing_lines(now, before); lines != 0; lines &= lines - 1) {
    const size_t first = static_cast<size_t>(std::countr_zero(lines)) * block_words;
    for (size_t i = first; i < first + block_words; ++i) {
      const uint64_t word = __atomic_load_n(&now[i], __ATOMIC_RELAXED);
      const uint64_t difference = word ^ before[i];
      if (difference == 0) continue;
      if (all_bytes_differ(difference)) pieces.add(i * 8, reinterpret_cast<const unsigned char*>(&word), 8);
      else add_changed_bytes(pieces, i * 8, word, before[i]);
      before[i] = word;
    }
  }
  return pieces.finish();
}

}  // namespace hiroba
