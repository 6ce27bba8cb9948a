#include "memory/cache/lines.hpp"

#include "memory/cache/diff.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace hiroba {

namespace {

constexpr size_t page_lines = page_bytes / line_bytes;
// The processor does not prefetch across the end of a page by itself.
constexpr size_t ahead_lines = 32;

void prefetch(const char* page, const char* twin, size_t line) {
  __builtin_prefetch(page + (line + ahead_lines) * line_bytes);
  __builtin_prefetch(twin + (line + ahead_lines) * line_bytes);
}

// Returns non-zero if a scalar of the word is 0.
template <size_t scalar>
uint64_t zero_scalars(uint64_t word) {
  if constexpr (scalar == sizeof word) return static_cast<uint64_t>(word == 0);
  constexpr uint64_t low = scalar == 1 ? 0x0101010101010101 : scalar == 2 ? 0x0001000100010001 : 0x0000000100000001;
  return (word - low) & ~word & low << (8 * scalar - 1) % 64;
}

template <size_t scalar>
Lines compare_words(const char* page, const char* twin) {
  Lines lines;
  for (size_t line = 0; line < page_lines; ++line) {
    prefetch(page, twin, line);
    uint64_t any = 0, equal = 0;
    for (size_t at = line * line_bytes; at < (line + 1) * line_bytes; at += sizeof any) {
      const uint64_t difference = word_at(page + at) ^ word_at(twin + at);
      any |= difference;
      equal |= zero_scalars<scalar>(difference);
    }
    lines.changed |= static_cast<uint64_t>(any != 0) << line;
    lines.whole |= static_cast<uint64_t>(equal == 0) << line;
  }
  return lines;
}

uint64_t take_words(const char* line, char* twin) {
  uint64_t mask = 0;
  for (size_t at = 0; at < line_bytes; at += sizeof mask) {
    const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(line + at), __ATOMIC_RELAXED);
    const uint64_t difference = word ^ word_at(twin + at);
    for (size_t b = 0; b < sizeof word; ++b)
      mask |= static_cast<uint64_t>((difference >> 8 * b & 255) != 0) << (at + b);
    std::memcpy(twin + at, &word, sizeof word);
  }
  return mask;
}

#ifdef __x86_64__
template <size_t scalar>
__attribute__((target("avx2"))) inline __m256i equal_avx2(__m256i a, __m256i b) {
  if constexpr (scalar == 1) return _mm256_cmpeq_epi8(a, b);
  if constexpr (scalar == 2) return _mm256_cmpeq_epi16(a, b);
  if constexpr (scalar == 4) return _mm256_cmpeq_epi32(a, b);
  return _mm256_cmpeq_epi64(a, b);
}

template <size_t scalar>
__attribute__((target("avx2"))) Lines compare_avx2(const char* page, const char* twin) {
  Lines lines;
  const auto* now = reinterpret_cast<const __m256i*>(page);
  const auto* before = reinterpret_cast<const __m256i*>(twin);
  for (size_t line = 0; line < page_lines; ++line, now += 2, before += 2) {
    prefetch(page, twin, line);
    const __m256i low = equal_avx2<scalar>(_mm256_loadu_si256(now), _mm256_loadu_si256(before));
    const __m256i high = equal_avx2<scalar>(_mm256_loadu_si256(now + 1), _mm256_loadu_si256(before + 1));
    lines.changed |= static_cast<uint64_t>(_mm256_movemask_epi8(_mm256_and_si256(low, high)) != -1) << line;
    lines.whole |= static_cast<uint64_t>(_mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0) << line;
  }
  return lines;
}

__attribute__((target("avx2"))) uint64_t take_avx2(const char* line, char* twin) {
  uint64_t equal = 0;
  for (size_t at = 0; at < line_bytes; at += sizeof(__m256i)) {
    const __m256i now = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + at));
    auto* const before = reinterpret_cast<__m256i*>(twin + at);
    const auto same = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(now, _mm256_loadu_si256(before))));
    equal |= static_cast<uint64_t>(same) << at;
    _mm256_storeu_si256(before, now);
  }
  return ~equal;
}

// Returns a bit for each scalar of a line that is equal.
template <size_t scalar>
__attribute__((target("avx512bw"))) inline uint64_t equal_avx512(const char* line, const char* twin) {
  const __m512i a = _mm512_loadu_si512(line), b = _mm512_loadu_si512(twin);
  if constexpr (scalar == 1) return _mm512_cmpeq_epi8_mask(a, b);
  if constexpr (scalar == 2) return _mm512_cmpeq_epi16_mask(a, b);
  if constexpr (scalar == 4) return _mm512_cmpeq_epi32_mask(a, b);
  return _mm512_cmpeq_epi64_mask(a, b);
}

template <size_t scalar>
__attribute__((target("avx512bw"))) Lines compare_avx512(const char* page, const char* twin) {
  constexpr uint64_t all = ~uint64_t{0} >> (64 - line_bytes / scalar);
  Lines lines;
  for (size_t line = 0; line < page_lines; ++line) {
    prefetch(page, twin, line);
    const uint64_t equal = equal_avx512<scalar>(page + line * line_bytes, twin + line * line_bytes);
    lines.changed |= static_cast<uint64_t>(equal != all) << line;
    lines.whole |= static_cast<uint64_t>(equal == 0) << line;
  }
  return lines;
}

__attribute__((target("avx512bw"))) uint64_t take_avx512(const char* line, char* twin) {
  const __m512i now = _mm512_loadu_si512(line);
  const uint64_t differ = _mm512_cmpneq_epi8_mask(now, _mm512_loadu_si512(twin));
  _mm512_storeu_si512(twin, now);
  return differ;
}
#endif

struct Comparisons {
  std::array<LineComparison, 3> all = {};
  size_t count = 0;

  Comparisons() {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512bw") != 0)
      all[count++] = {{compare_avx512<1>, compare_avx512<2>, compare_avx512<4>, compare_avx512<8>}, take_avx512};
    if (__builtin_cpu_supports("avx2") != 0)
      all[count++] = {{compare_avx2<1>, compare_avx2<2>, compare_avx2<4>, compare_avx2<8>}, take_avx2};
#endif
    all[count++] = {{compare_words<1>, compare_words<2>, compare_words<4>, compare_words<8>}, take_words};
  }
};

}  // namespace

std::span<const LineComparison> line_comparisons() {
  static const Comparisons here;
  return {here.all.data(), here.count};
}

}  // namespace hiroba
