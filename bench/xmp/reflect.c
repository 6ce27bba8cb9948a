/* The shadow of a 3-D array, of which two dimensions are divided: each node has neighbours on four sides, because the
 * borders are periodic. Four nodes. The best time counts; halo.c does the same with MPI. */
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>

#include "../../apps/common/clock.h"

#ifndef N
#define N 256 /* elements of each dimension */
#endif

// clang-format off: it takes sections for labels
#pragma xmp nodes p[2][2]
#pragma xmp template t[N][N][N]
#pragma xmp distribute t[block][block][*] onto p
double a[N][N][N];
#pragma xmp align a[i][j][k] with t[i][j][k]
#pragma xmp shadow a[1][1][0]

static double value(int i, int j, int k, int round) {
  return ((i + N) % N * (double)N + (j + N) % N) * N + k + round;
}

static void fill(int round) {
#pragma xmp loop (i,j) on t[i][j][*]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) a[i][j][k] = value(i, j, k, round);
}

static long wrong(int round) {
  long sum = 0;
#pragma xmp loop (i,j) on t[i][j][*] reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int di = -1; di < 2; di++)
        for (int dj = -1; dj < 2; dj++)
          for (int k = 0; k < N; k++) sum += a[i + di][j + dj][k] != value(i + di, j + dj, k, round);
  return sum;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  double best = 1e9;
  long errors = 0;
  for (int round = 0; round < rounds; round++) {
    if (round % 8 == 0) fill(round);
    xmp_sync_all(NULL);
    double seconds = now();
#pragma xmp reflect(a) width(/ periodic / 1, / periodic / 1, 0)
    xmp_sync_all(NULL);
    seconds = now() - seconds;
    if (round % 8 == 0) errors += wrong(round);
    if (seconds < best) best = seconds;
  }
  if (xmpc_node_num() == 0) printf("{\"reflect\": %.9f, \"wrong\": %ld}\n", best, errors);
  return errors != 0;
}
