#include "memory/diff.hpp"

#include <atomic>
#include <bit>
#include <cstring>

#include "memory/lines.hpp"

namespace hiroba {

namespace {

// Collects bytes into pieces: a piece grows while the changed bytes are adjacent.
class PieceWriter {
 public:
  PieceWriter(uint64_t offset, uint64_t* out) : offset_(offset), out_(out) {}

  // Returns where they have been copied to.
  const char* add(size_t at, const char* bytes, size_t count) {
    if (size_ == 0 || at != begin_ + size_) finish(), begin_ = at;
    char* const to = reinterpret_cast<char*>(out_ + used_ + 1) + size_;
    std::memcpy(to, bytes, count);
    size_ += count;
    return to;
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

void add_changed_bytes(PieceWriter& pieces, size_t at, const char* bytes, uint64_t difference) {
  const char* const changed = reinterpret_cast<const char*>(&difference);
  for (size_t b = 0; b < sizeof difference; ++b)
    if (changed[b] != 0) pieces.add(at + b, bytes + b, 1);
}

}  // namespace

size_t diff_page(const void* page, void* twin, uint64_t offset, uint64_t* out) {
  const auto* now = static_cast<const char*>(page);
  auto* before = static_cast<char*>(twin);
  PieceWriter pieces(offset, out);
  static const CompareLines compare = line_comparisons()[0];
  const Lines lines = compare(now, before);
  if (lines.whole == ~uint64_t{0}) {
    std::memcpy(before, now, page_bytes);
    return whole_page;
  }
  for (uint64_t left = lines.changed; left != 0; left &= left - 1) {
    const int line = std::countr_zero(left);
    const size_t begin = static_cast<size_t>(line) * line_bytes;
    // What is sent is read once: a write that comes meanwhile is in it, or differs from the twin the next time.
    if ((lines.whole >> line & 1) != 0) {
      std::memcpy(before + begin, pieces.add(begin, now + begin, line_bytes), line_bytes);
      continue;
    }
    for (size_t at = begin; at < begin + line_bytes; at += sizeof(uint64_t)) {
      const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(now + at), __ATOMIC_RELAXED);
      const uint64_t difference = word ^ word_at(before + at);
      if (difference == 0) continue;
      const char* const bytes = reinterpret_cast<const char*>(&word);
      if (zero_bytes(difference) == 0) pieces.add(at, bytes, sizeof word);
      else add_changed_bytes(pieces, at, bytes, difference);
      std::memcpy(before + at, &word, sizeof word);
    }
  }
  return pieces.finish();
}

void merge_page(const void* fresh, void* twin, void* page) {
  const auto* const now = static_cast<const char*>(fresh);
  auto* const before = static_cast<char*>(twin);
  auto* const into = static_cast<char*>(page);
  for (size_t at = 0; at < page_bytes; at += sizeof(uint64_t)) {
    const uint64_t difference = word_at(now + at) ^ word_at(before + at);
    if (difference == 0) continue;
    uint64_t mask = 0;
    for (uint64_t byte = 0xff; byte != 0; byte <<= 8) mask |= (difference & byte) != 0 ? byte : 0;
    // One step, so that neither a reader sees a part of it nor a write to the other bytes is undone.
    const std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t*>(into + at));
    uint64_t old = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(old, (old & ~mask) | (word_at(now + at) & mask), std::memory_order_relaxed)) {
    }
    std::memcpy(before + at, now + at, sizeof(uint64_t));
  }
}

}  // namespace hiroba
