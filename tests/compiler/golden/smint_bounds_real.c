/* Ends that are real numbers, steps that are known at run time only, and != as a condition. */
#include <smint.h>
#include "check.h"

enum { N = 101 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N];
#pragma SMint shared ::[NPROCS][](0, NPROCS)
int m[N][N];

static double half(int n) { return n / 2.0; }

int main(int argc, char** argv) {
  int n = N, block = 7 * argc;
  double middle = n / 2.0;
#pragma SMint parallel for
  for (int i = 0; i < middle; i++) a[i] += 1;
#pragma SMint parallel for
  for (int i = 0; i <= n / 2.0; i++) a[i] += 2;
#pragma SMint parallel for
  for (int i = n - 1; i > middle; i--) a[i] += 4;
#pragma SMint parallel for
  for (int i = n - 1; i >= middle; i--) a[i] += 8;
#pragma SMint parallel for
  for (int i = 0; i < half(n); i++) a[i] += 16;
#pragma SMint parallel for
  for (int i = 0; i != n; i++) a[i] += 32;
#pragma SMint parallel for
  for (int i = n - 1; i != -1; --i) a[i] += 64;
#pragma SMint parallel for
  for (int ii = 0; ii < n; ii += block)
    for (int i = ii; i < (ii + block < n ? ii + block : n); i++)
      for (int j = 0; j < n; j++) m[i][j] += i + j;
#pragma SMint parallel for
  for (int i = n - 1; i >= 0; i -= 2 * block) m[i][0] += 1000;
  int wrong = argv == 0;
  for (int i = 0; i < N; i++) {
    wrong += a[i] != (i < 51 ? 1 + 2 + 16 : 4 + 8) + 32 + 64;
    for (int j = 0; j < N; j++) wrong += m[i][j] != i + j + (j == 0 && (n - 1 - i) % (2 * block) == 0 ? 1000 : 0);
  }
  return verdict(wrong);
}
