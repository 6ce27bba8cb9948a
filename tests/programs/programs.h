/* What the C programs of this folder share: a small deterministic generator, a failure that ends the job, waiting
 * that does not burn a core, and options. Header only; every function may be called from any thread.
 */
#ifndef HIROBA_TESTS_PROGRAMS_H
#define HIROBA_TESTS_PROGRAMS_H

#include <sched.h>
#include <sms.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE 4096

/* splitmix64's finaliser: a hash in which every bit of the result depends on every bit of x. */
static inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline uint64_t mix2(uint64_t a, uint64_t b) { return mix(mix(a + 0x9e3779b97f4a7c15u) ^ b); }

typedef struct rng {
  uint64_t state;
} rng;

static inline uint64_t rng_next(rng* r) { return mix(r->state += 0x9e3779b97f4a7c15u); }

/* 0 .. n-1; n >= 1. */
static inline uint64_t rng_below(rng* r, uint64_t n) { return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64); }

static inline int rng_int(rng* r, int n) { return (int)rng_below(r, (uint64_t)n); }

/* True once in n times. */
static inline int rng_once_in(rng* r, int n) { return rng_int(r, n) == 0; }

/* Ends the job with this message. */
static inline void fail(const char* pattern, ...) __attribute__((format(printf, 1, 2), noreturn));
static inline void fail(const char* pattern, ...) {
  char text[600];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  sms_abort(1, text);
}

/* rows x columns elements, zero, the rows cut into one piece per rank. Collective. */
static inline void* spread(int rows, int columns, size_t elemsize) {
  const int dim[] = {rows, columns, -1}, div[] = {sms_nprocs, 1, -1};
  return sms_mapalloc(dim, div, elemsize, 0, sms_nprocs);
}

/* Between two looks at something another rank will change: gives the core away, and sleeps when that was not enough,
 * because there may be more ranks than cores. After at least 15 s the change is taken for lost. */
static inline void pause_between_looks(int looks) {
  if (looks < 50) {
    sched_yield();
  } else if (looks == 300000) {
    fail("waited for long for what another rank should have changed");
  } else {
    const struct timespec nap = {0, 50000};
    nanosleep(&nap, NULL);
  }
}

/* The number after `name` in argv, or fallback. */
static inline long option_number(int argc, char** argv, const char* name, long fallback) {
  for (int i = 1; i + 1 < argc; ++i)
    if (strcmp(argv[i], name) == 0) return strtol(argv[i + 1], NULL, 0);
  return fallback;
}

/* Of n tries at random, those that are made: a third where `./dev test` wants everything once (tests/sets/run.py). */
static inline long tries(long n) { return getenv("TESTS_ONCE") != NULL ? (n + 2) / 3 : n; }

static inline const char* option_text(int argc, char** argv, const char* name, const char* fallback) {
  for (int i = 1; i + 1 < argc; ++i)
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  return fallback;
}

/* "VmRSS", "VmHWM" of this process in KiB. */
static inline long status_kib(const char* field) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  while (file != NULL && value < 0 && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, field, strlen(field)) == 0 && line[strlen(field)] == ':')
      value = strtol(line + strlen(field) + 1, NULL, 10);
  if (file != NULL) fclose(file);
  return value;
}

#endif
