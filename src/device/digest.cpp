#include "device/digest.hpp"

#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace hiroba {

namespace {

constexpr size_t line = Digest::lanes * sizeof(uint64_t);

// One-to-one in `sum` for a given word, and in the word for a given sum.
inline uint64_t step(uint64_t sum, uint64_t word) {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15;
  return std::rotl((sum ^ word) * odd, 29);
}

// A thread that computes asks for too few lines at once to use the memory's bandwidth. A prefetch never faults.
constexpr size_t ahead = 2048;

inline void add_line(std::array<uint64_t, Digest::lanes>& sums, const char* from) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(from) + ahead));
  uint64_t words[Digest::lanes];
  std::memcpy(words, from, line);
  for (size_t i = 0; i < Digest::lanes; ++i) sums[i] = step(sums[i], words[i]);
}

// The rest is filled with zeros; its length is a part of the digest.
Digest ended(std::array<uint64_t, Digest::lanes> sums, const char* rest, size_t bytes, size_t all) {
  char last[line] = {};
  std::memcpy(last, rest, bytes);
  add_line(sums, last);
  sums[0] = step(sums[0], all);
  return {sums};
}

#if defined(__x86_64__)
inline void stream_line(char* to, const char* from) {
  for (size_t i = 0; i < line; i += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}
inline void end_streaming() { _mm_sfence(); }
#else
inline void stream_line(char* to, const char* from) { std::memcpy(to, from, line); }
inline void end_streaming() {}
#endif

// The widest instructions of the processor that multiply words.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HIROBA_WIDEST __attribute__((target_clones("arch=x86-64-v4", "default")))
#else
#define HIROBA_WIDEST
#endif

}  // namespace

HIROBA_WIDEST Digest digest_of(const char* from, size_t bytes) {
  std::array<uint64_t, Digest::lanes> sums = {};
  size_t at = 0;
  for (; at + line <= bytes; at += line) add_line(sums, from + at);
  return ended(sums, from + at, bytes - at, bytes);
}

HIROBA_WIDEST Digest copy_and_digest(char* to, const char* from, size_t bytes, bool past_caches) {
  std::array<uint64_t, Digest::lanes> sums = {};
  size_t at = 0;
  constexpr size_t small = 16384, alignment = 16;
  if (past_caches && bytes >= small && reinterpret_cast<uintptr_t>(to) % alignment == 0) {
    for (; at + line <= bytes; at += line) {
      add_line(sums, from + at);
      stream_line(to + at, from + at);
    }
    end_streaming();
    std::memcpy(to + at, from + at, bytes - at);
  } else {
    for (; at + line <= bytes; at += line) {
      add_line(sums, from + at);
      std::memcpy(to + at, from + at, line);
    }
    std::memcpy(to + at, from + at, bytes - at);
  }
  return ended(sums, from + at, bytes - at, bytes);
}

}  // namespace hiroba
