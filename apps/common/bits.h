/* bits.h: a sum over the bits of an answer, to compare answers of programs that divide them in different ways: it does
 * not depend on the order of the values, and where each value belongs counts. And noise to start from that does not
 * depend on who computes it. Private; nothing here blocks. */
#ifndef APPS_COMMON_BITS_H
#define APPS_COMMON_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of one value of at most 8 bytes, which is number `index` of the answer. Sum them modulo 2^64 (team_sum_bits). */
static inline uint64_t bits_of(uint64_t index, const void* value, size_t bytes) {
  uint64_t word = 0;
  memcpy(&word, value, bytes);
  word = (word ^ (index + 1) * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
  word = (word ^ word >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
  return word ^ word >> 29;
}

/* Returns the last step of splitmix64: words that differ in one bit become words that differ in many. */
static inline uint64_t mix_bits(uint64_t word) {
  word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
  return word ^ word >> 31;
}

/* A number in [-1, 1) that depends on seed and place only. */
static inline double noise_of(uint64_t seed, int z, int y, int x) {
  uint64_t h = seed;
  const int words[3] = {z, y, x};
  for (int i = 0; i < 3; i++) {
    h = (h + (uint64_t)words[i] + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 29;
  }
  return (double)(h >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

#endif
