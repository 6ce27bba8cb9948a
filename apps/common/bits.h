/* bits.h: a sum over the bits of an answer, to compare answers of programs that divide them in different ways. It does
 * not depend on the order of the values; where each value belongs counts. Private; nothing here blocks. */
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

#endif
