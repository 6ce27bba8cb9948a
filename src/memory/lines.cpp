#include "memory/lines.hpp"

#include <array>

#include "memory/diff.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace hiroba {

namespace {

constexpr size_t page_lines = page_bytes / line_bytes;
// The processor does not look beyond the end of a page by itself.
constexpr size_t ahead_lines = 32;

void prefetch(const char* page, const char* twin, size_t line) {
  __builtin_prefetch(page + (line + ahead_lines) * line_bytes);
  __builtin_prefetch(twin + (line + ahead_lines) * line_bytes);
}

Lines compare_words(const char* page, const char* twin) {
  Lines lines;
  for (size_t line = 0; line < page_lines; ++line) {
    prefetch(page, twin, line);
    uint64_t any = 0, equal = 0;
    for (size_t at = line * line_bytes; at < (line + 1) * line_bytes; at += sizeof any) {
      const uint64_t difference = word_at(page + at) ^ word_at(twin + at);
      any |= difference;
      equal |= zero_bytes(difference);
    }
    lines.changed |= static_cast<uint64_t>(any != 0) << line;
    lines.whole |= static_cast<uint64_t>(equal == 0) << line;
  }
  return lines;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) Lines compare_avx2(const char* page, const char* twin) {
  Lines lines;
  const auto* now = reinterpret_cast<const __m256i*>(page);
  const auto* before = reinterpret_cast<const __m256i*>(twin);
  for (size_t line = 0; line < page_lines; ++line, now += 2, before += 2) {
    prefetch(page, twin, line);
    const __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(now), _mm256_loadu_si256(before));
    const __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256(now + 1), _mm256_loadu_si256(before + 1));
    lines.changed |= static_cast<uint64_t>(_mm256_movemask_epi8(_mm256_and_si256(low, high)) != -1) << line;
    lines.whole |= static_cast<uint64_t>(_mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0) << line;
  }
  return lines;
}

__attribute__((target("avx512bw"))) Lines compare_avx512(const char* page, const char* twin) {
  Lines lines;
  for (size_t line = 0; line < page_lines; ++line) {
    prefetch(page, twin, line);
    const uint64_t equal = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(page + line * line_bytes),
                                                  _mm512_loadu_si512(twin + line * line_bytes));
    lines.changed |= static_cast<uint64_t>(equal != ~uint64_t{0}) << line;
    lines.whole |= static_cast<uint64_t>(equal == 0) << line;
  }
  return lines;
}
#endif

struct Comparisons {
  std::array<CompareLines, 3> all = {};
  size_t count = 0;

  Comparisons() {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512bw") != 0) all[count++] = compare_avx512;
    if (__builtin_cpu_supports("avx2") != 0) all[count++] = compare_avx2;
#endif
    all[count++] = compare_words;
  }
};

}  // namespace

std::span<const CompareLines> line_comparisons() {
  static const Comparisons here;
  return {here.all.data(), here.count};
}

}  // namespace hiroba
