/* Single elements of an image on this node, in nanoseconds: one line of JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>

#include "pingpong.h"

enum { COUNT = 1024, TIMES = 20000, ROUNDS = 9 };

// clang-format off: it takes sections for labels
static long a[COUNT]:[*];

static int ascending(const void* x, const void* y) {
  return (*(const double*)x > *(const double*)y) - (*(const double*)x < *(const double*)y);
}

static double median(double* values) {
  qsort(values, ROUNDS, sizeof *values, ascending);
  return values[ROUNDS / 2];
}

/* Nanoseconds to store one element on image `other`. */
static double put(int other) {
  double spent[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    const double start = now();
    for (long k = 0; k < TIMES; k++)
      for (int i = 0; i < COUNT; i++) a[i]:[other] = i + k;
    spent[round] = now() - start;
  }
  return 1e9 * median(spent) / TIMES / COUNT;
}

/* Nanoseconds to load one; they hold what put has left. */
static double get(int other) {
  double spent[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    long sum = 0;
    const double start = now();
    for (long k = 0; k < TIMES; k++)
      for (int i = 0; i < COUNT; i++) sum += a[i]:[other];
    spent[round] = now() - start;
    if (sum != (long)TIMES * COUNT * (TIMES - 1 + (COUNT - 1) / 2) + (long)TIMES * COUNT / 2) {
      fprintf(stderr, "element: the elements are not what has been put\n");
      exit(1);
    }
  }
  return 1e9 * median(spent) / TIMES / COUNT;
}

int main(void) {
  const int me = xmpc_this_image();
  xmp_sync_all(NULL);
  if (me == 0) {
    const double stored = put(1), loaded = get(1);
    printf("{\"put ns\": %.4g, \"get ns\": %.4g}\n", stored, loaded);
  }
  xmp_sync_all(NULL);
  return 0;
}
