/* A gather by indices that stay: with `repeat`, the second execution knows what the first one read. */
#include <smint.h>
#include "check.h"

enum { N = 2000, STEPS = 4 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int x[N], y[N], from[N];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    x[i] = i;
    from[i] = i * 7 % N;
  }
  int wrong = 0;
  for (int t = 0; t < STEPS; t++) {
#pragma SMint parallel for repeat
    for (int i = 0; i < N; i++) y[i] = x[from[i]] + t;
    for (int i = 0; i < N; i++) wrong += y[i] != i * 7 % N + 4 * t * (t - 1) / 2 * N + t;
#pragma SMint parallel for
    for (int i = 0; i < N; i++) x[i] += 4 * t * N;
  }
  return verdict(wrong);
}
