/* A gmove of a contiguous section from one node to another beside a put of as many bytes into a coarray; the same into
 * a shared array, and out of it; and a gmove from rows by block to columns by cyclic(1), which alltoallw.c does with
 * MPI. Two nodes. The best times count. */
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>

#include "../../apps/common/clock.h"

#ifndef N
#define N 1024 /* rows and columns of the matrix */
#endif
#define LENGTH (N * N / 8) /* elements of the section */

// clang-format off: it takes sections for labels
#pragma xmp nodes p[*]
#pragma xmp template t[2 * LENGTH]
#pragma xmp distribute t[block] onto p
#pragma xmp template rows[N][N]
#pragma xmp distribute rows[block][*] onto p
#pragma xmp template columns[N][N]
#pragma xmp distribute columns[*][cyclic] onto p
double a[2 * LENGTH], b[2 * LENGTH], m[N][N], c[N][N];
#pragma xmp align [i] with t[i] :: a, b
#pragma xmp align m[i][j] with rows[i][j]
#pragma xmp align c[i][j] with columns[i][j]
double target[LENGTH]:[*], source[LENGTH]:[*];
#pragma SMint shared ::[NPROCS](0,NPROCS)
double shared[2 * LENGTH];

static void fill(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 2 * LENGTH; i++) a[i] = i;
#pragma xmp loop (i,j) on rows[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) m[i][j] = i * (double)N + j;
  for (int i = 0; i < LENGTH; i++) source[i] = LENGTH + i;
}

static long wrong(void) {
  long sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < LENGTH; i++) sum += b[i] != LENGTH + i;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = LENGTH; i < 2 * LENGTH; i++) sum += b[i] != i;
#pragma xmp loop (i,j) on columns[i][j] reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += c[i][j] != i * (double)N + j;
  if (xmpc_node_num() == 0)
    for (int i = 0; i < LENGTH; i++) sum += target[i] != LENGTH + i;
  return sum;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  double best[5] = {1e9, 1e9, 1e9, 1e9, 1e9};
  fill();
  for (int round = 0; round < rounds; round++) {
    double times[6];
    xmp_sync_all(NULL);
    times[0] = now();
    if (xmpc_node_num() == 1) target[:]:[0] = source[:];
    xmp_sync_all(NULL);
    times[1] = now();
#pragma xmp gmove
    b[0:LENGTH] = a[LENGTH:LENGTH];
    xmp_sync_all(NULL);
    times[2] = now();
#pragma xmp gmove
    c[:][:] = m[:][:];
    xmp_sync_all(NULL);
    times[3] = now();
#pragma xmp gmove
    shared[0:LENGTH] = a[LENGTH:LENGTH];
    xmp_sync_all(NULL);
    times[4] = now();
#pragma xmp gmove
    b[LENGTH:LENGTH] = shared[0:LENGTH];
    xmp_sync_all(NULL);
    times[5] = now();
    for (int i = 5; i > 0; i--) times[i] -= times[i - 1];
#pragma xmp reduction(max : times) /* the node that starts late does not see all of it */
    for (int i = 0; i < 5; i++)
      if (times[i + 1] < best[i]) best[i] = times[i + 1];
  }
  const long errors = wrong();
  if (xmpc_node_num() == 0)
    printf("{\"put\": %.9f, \"gmove\": %.9f, \"cyclic\": %.9f, \"to_shared\": %.9f, \"from_shared\": %.9f, "
           "\"wrong\": %ld}\n", best[0], best[1], best[2], best[3], best[4], errors);
  return errors != 0;
}
