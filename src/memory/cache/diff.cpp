#include "memory/cache/diff.hpp"

#include <atomic>
#include <bit>
#include <cstring>

#include "memory/cache/lines.hpp"

namespace hiroba {

namespace {

constexpr uint64_t all_bytes = ~uint64_t{0};

// The changed bytes of a page.
struct Changes {
  uint64_t lines = 0;            // lines with a changed byte
  uint64_t mask[Packed::lines];  // changed bytes of each of these lines
  size_t places = 0;             // runs of changed bytes, counted up to the limit for plain pieces
};

// Finds the changes and copies them into the twin. Each line is read once, so a concurrent write is either in what was
// read or found by the next diff.
void take_changes(const char* now, char* twin, Lines lines, size_t scalar, const LineComparison& comparison,
                  Changes& out) {
  uint64_t before = 0;  // mask of the line before
  int last = -1;
  for (uint64_t left = lines.changed; left != 0; left &= left - 1) {
    const int line = std::countr_zero(left);
    const size_t at = static_cast<size_t>(line) * line_bytes;
    uint64_t mask = all_bytes;
    if ((lines.whole >> line & 1) != 0) std::memcpy(twin + at, now + at, line_bytes);
    else mask = whole_scalars(comparison.take(now + at, twin + at), scalar);
    uint64_t begins = mask & ~(mask << 1 | (line == last + 1 ? before >> 63 : 0));
    for (; begins != 0 && out.places <= most_plain_pieces; begins &= begins - 1) ++out.places;
    out.mask[line] = before = mask, last = line;
    out.lines |= static_cast<uint64_t>(mask != 0) << line;
  }
}

// Packs a plain piece for each run of bytes.
size_t pack_runs(uint64_t offset, const char* from, const Changes& changes, uint64_t* out) {
  size_t used = 0, begin = 0, size = 0;
  const auto finish = [&] {
    if (size == 0) return;
    out[used] = Packed::head(offset + begin, size);
    if (size == 8) std::memcpy(out + used + 1, from + begin, 8);
    else std::memcpy(out + used + 1, from + begin, size);
    used += 1 + (size + 7) / 8;
  };
  for (uint64_t left = changes.lines; left != 0; left &= left - 1) {
    const int line = std::countr_zero(left);
    for (uint64_t mask = changes.mask[line]; mask != 0;) {
      const int first = std::countr_zero(mask), count = std::countr_one(mask >> first);
      const size_t at = static_cast<size_t>(line) * line_bytes + static_cast<size_t>(first);
      if (size == 0 || at != begin + size) finish(), begin = at, size = 0;
      size += static_cast<size_t>(count);
      mask = first + count == 64 ? 0 : mask >> (first + count) << (first + count);
    }
  }
  finish();
  return used;
}

}  // namespace

size_t diff_page(const void* page, void* twin, uint64_t offset, size_t scalar, uint64_t* out) {
  const auto* const now = static_cast<const char*>(page);
  auto* const before = static_cast<char*>(twin);
  static const LineComparison comparison = line_comparisons()[0];
  const Lines lines = comparison.compare(now, before, scalar);
  if (lines.whole == all_bytes) {
    std::memcpy(before, now, page_bytes);
    return whole_page;
  }
  if (lines.changed == 0) return 0;
  Changes changes;
  take_changes(now, before, lines, scalar, comparison, changes);
  if (changes.places > most_plain_pieces) return pack_masked(offset, before, changes.lines, changes.mask, out);
  return pack_runs(offset, before, changes, out);
}

void merge_page(const void* fresh, void* twin, size_t scalar, void* page) {
  const auto* const now = static_cast<const char*>(fresh);
  auto* const before = static_cast<char*>(twin);
  auto* const into = static_cast<char*>(page);
  for (size_t at = 0; at < page_bytes; at += sizeof(uint64_t)) {
    const uint64_t difference = word_at(now + at) ^ word_at(before + at);
    if (difference == 0) continue;
    uint64_t mask = 0;
    for (size_t b = 0; b < sizeof difference; b += scalar) {
      const uint64_t bits = all_bytes >> (64 - 8 * scalar) << 8 * b;
      mask |= (difference & bits) != 0 ? bits : 0;
    }
    // One atomic step: no reader sees a part of it, and it undoes no write to the other bytes.
    const std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t*>(into + at));
    uint64_t old = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(old, (old & ~mask) | (word_at(now + at) & mask), std::memory_order_relaxed)) {
    }
    std::memcpy(before + at, now + at, sizeof(uint64_t));
  }
}

}  // namespace hiroba
