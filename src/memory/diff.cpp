#include "memory/diff.hpp"

#include <atomic>
#include <bit>
#include <cstring>

namespace hiroba {

namespace {

constexpr size_t block_words = 8;  // a cache line
// The processor does not look beyond the end of a page by itself.
constexpr size_t ahead_lines = 16;

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HIROBA_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HIROBA_VECTOR_CLONES
#endif

// Is not 0 if a byte of the word is.
uint64_t zero_bytes(uint64_t word) {
  constexpr uint64_t low = 0x0101010101010101, high = 0x8080808080808080;
  return (word - low) & ~word & high;
}

// Bit b stands for cache line b of the page.
struct Lines {
  uint64_t changed = 0;  // differ from the twin
  uint64_t whole = 0;    // differ in every byte
};

HIROBA_VECTOR_CLONES Lines compare(const uint64_t* page, const uint64_t* twin) {
  Lines lines;
  for (size_t line = 0; line < page_bytes / 64; ++line) {
    uint64_t any = 0, equal = 0;
    for (size_t i = 0; i < block_words; ++i) {
      const uint64_t difference = page[line * block_words + i] ^ twin[line * block_words + i];
      any |= difference;
      equal |= zero_bytes(difference);
    }
    __builtin_prefetch(page + (line + ahead_lines) * block_words);
    __builtin_prefetch(twin + (line + ahead_lines) * block_words);
    lines.changed |= static_cast<uint64_t>(any != 0) << line;
    lines.whole |= static_cast<uint64_t>(equal == 0) << line;
  }
  return lines;
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

}  // namespace

size_t diff_page(const void* page, void* twin, uint64_t offset, uint64_t* out) {
  const auto* now = static_cast<const uint64_t*>(page);
  auto* before = static_cast<uint64_t*>(twin);
  PieceWriter pieces(offset, out);
  const Lines lines = compare(now, before);
  for (uint64_t left = lines.changed; left != 0; left &= left - 1) {
    const int line = std::countr_zero(left);
    const size_t first = static_cast<size_t>(line) * block_words;
    // Each word is read once: a write that comes meanwhile is either sent, or differs from the twin the next time.
    uint64_t words[block_words];
    for (size_t i = 0; i < block_words; ++i) words[i] = __atomic_load_n(&now[first + i], __ATOMIC_RELAXED);
    if ((lines.whole >> line & 1) != 0) {
      pieces.add(first * 8, reinterpret_cast<const unsigned char*>(words), sizeof words);
      std::memcpy(&before[first], words, sizeof words);
      continue;
    }
    for (size_t i = 0; i < block_words; ++i) {
      const size_t at = first + i;
      const uint64_t difference = words[i] ^ before[at];
      if (difference == 0) continue;
      if (zero_bytes(difference) == 0) pieces.add(at * 8, reinterpret_cast<const unsigned char*>(&words[i]), 8);
      else add_changed_bytes(pieces, at * 8, words[i], before[at]);
      before[at] = words[i];
    }
  }
  return pieces.finish();
}

}  // namespace hiroba
