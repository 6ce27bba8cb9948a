/* critical_random.h: numbers by which threads choose their operations. Header only. */
#ifndef APPS_COMMON_CRITICAL_RANDOM_H
#define APPS_COMMON_CRITICAL_RANDOM_H

#include <stdint.h>

#include "bits.h"

/* A sequence of numbers for each thread of the job (xorshift64*, from a state that splitmix64 makes of the seed). */
static inline uint64_t critical_seed(int seed, int worker) {
  return mix_bits(((uint64_t)seed << 32) + (uint64_t)worker + UINT64_C(0x9e3779b97f4a7c15)) | 1;
}
static inline int64_t critical_random(uint64_t* state, int64_t below) {
  *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
  return (int64_t)((*state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % (uint64_t)below);
}

#endif
