/* parts.h: the parts of a program over shared memory, which are threads of one process or ranks of a job, one thread
 * each: how they wait for each other, and read what others have written. A program written over this is the same for
 * both; what is shared lies at the same address in all parts.
 *
 * Values and small functions. wait blocks until all parts are there, fetch until the data is. */
#ifndef APPS_COMMON_PARTS_H
#define APPS_COMMON_PARTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct parts {
  int count;
  /* What any part has written before it, all may read after it, once they have fetched it. */
  void (*wait)(void);
  /* Before this part reads what another one has written; NULL: nothing to do. */
  void (*fetch)(const void* address, size_t bytes);
} parts;

static inline void parts_fetch(const parts* parts, const void* address, size_t bytes) {
  if (parts->fetch != NULL && bytes > 0) parts->fetch(address, bytes);
}

/* The parts of one process. The call of the barrier is for the threads of a parallel region. */
static inline void parts_no_wait(void) {}
#ifdef _OPENMP
static inline void parts_wait_for_threads(void) {
#pragma omp barrier
}
static inline parts parts_threads(int threads) { return (parts){threads, parts_wait_for_threads, NULL}; }
#endif

/* Where part `part` begins, if `count` things are divided into pieces of `share`. */
static inline int64_t parts_first(int64_t count, int64_t share, int part) {
  return share * part < count ? share * part : count;
}

#endif
