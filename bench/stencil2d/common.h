/* common.h: what all programs of this folder have and count.py does not count: the extents, the command line, the
 * clock, the report. Private to the process that includes it; nothing here communicates or blocks.
 *
 * The problem is laplace.c of the Omni compiler: u' = (N + S + W + E) / 4 on a grid of NY x NX points, whose rim stays
 * 0; the checksum is the sum over the inner points of |last step - the step before|. With 64 x 64 points and 100 steps
 * it is 5.5488557664881109. Extents are fixed when a program is compiled (-DN=1024), for not every notation knows
 * others, and so the loops of all are compiled alike.
 */
#ifndef STENCIL2D_COMMON_H
#define STENCIL2D_COMMON_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../apps/common/clock.h"

#ifndef N
#define N 64
#endif
#define NX N
#define NY N

/* Reads [--steps T] [--size N], in which N must be that of this program. Returns the steps; ends the process with
 * status 2 if it does not understand. */
static inline int steps_wanted(int argc, char** argv) {
  int steps = 100;
  for (int i = 1; i < argc; i += 2) {
    char* end = NULL;
    const long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
    const int good = end != NULL && *end == '\0' && value >= 1 && value <= 1000000000;
    if (good && strcmp(argv[i], "--steps") == 0) {
      steps = (int)value;
    } else if (!good || strcmp(argv[i], "--size") != 0 || value != N) {
      fprintf(stderr, "usage: %s [--steps T] [--size %d] (another size is another program: -DN=SIZE)\n", argv[0], N);
      exit(2);
    }
  }
  return steps;
}

static inline int smaller(int a, int b) { return a < b ? a : b; }
static inline int larger(int a, int b) { return a > b ? a : b; }

/* The result, as one line of JSON; for one process of the program. */
static inline void report(int steps, double seconds, double checksum) {
  printf("{\"seconds\": %.9f, \"checksum\": %.17g, \"steps\": %d, \"size\": %d}\n", seconds, checksum, steps, N);
}

/* calloc, on huge pages, as shared arrays have them. Belongs to the caller, who frees it. Ends the process with status
 * 1 if there is not as much memory. */
static inline void* zeroes(size_t bytes) {
  const size_t huge_page = 2 << 20, whole = (bytes + huge_page - 1) / huge_page * huge_page;
  void* const memory = aligned_alloc(huge_page, whole);
  if (memory == NULL) {
    perror("memory for the grid");
    exit(1);
  }
  madvise(memory, whole, MADV_HUGEPAGE);
  return memset(memory, 0, whole);
}

/* Before main: the same for arrays at file scope. */
__attribute__((constructor)) static void use_huge_pages(void) {
  extern char __bss_start[], _end[]; /* the linker's names for the ends of these arrays */
  const size_t page = 4096, first = ((size_t)__bss_start + page - 1) / page * page, end = (size_t)_end / page * page;
  if (first < end) madvise((void*)first, end - first, MADV_HUGEPAGE);
}

#endif
