/* Reductions of arrays and of sections on devices, whose subscripts need not be affine. */
#include <smint.h>
#include <stdlib.h>

#include "../golden/check.h"

enum { N = 130 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int v[N];
static int bins[7];
static long table[3][4];

static int check(int n, int first) {
  double* const weights = calloc(30, sizeof *weights);
  double tops[2] = {-1, -1};
  long sums[n];
  for (int i = 0; i < n; i++) sums[i] = i;
#pragma SMint parallel for device(COUNT) reduction(max : tops) reduction(+ : weights[first : 10])
#pragma DIRECTIVE reduction(+ : bins[ : 7], table) reduction(+ : sums)
  for (int i = 0; i < N; i++) {
    bins[v[i] % 7]++;
    table[i % 3][i % 4] += i;
    weights[first + v[i] % 10] += i;
    sums[i % n] += 2;
    if (v[i] > tops[i % 2]) tops[i % 2] = v[i];
  }
  int wrong = (tops[0] != N - 2) + (tops[1] != N - 1);
  for (int i = 0; i < 7; i++) wrong += bins[i] != (N + 6 - i) / 7;
  for (int i = 0; i < N; i++) weights[first + i % 10] -= i, table[i % 3][i % 4] -= i, sums[i % n] -= 2;
  for (int i = 0; i < 30; i++) wrong += weights[i] != 0;
  for (int i = 0; i < 12; i++) wrong += table[i / 4][i % 4] != 0;
  for (int i = 0; i < n; i++) wrong += sums[i] != i;
  free(weights);
  return wrong;
}

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) v[i] = i;
  return verdict(check(5, 10));
}
