/* Loops in chunks that are tasks: in a section the loop's variable stands for the chunk. */
#include <task.h>
#include "check.h"
#define N 30
#define M 6

#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[N][M], b[N][M];
#pragma SMint shared ::[NPROCS](0, NPROCS)
int where[N];

static int add(int from, int to) {
  int sum = 0, i;
#pragma hiroba taskloop grainsize(2) concurrent(sum) firstprivate(from)
  for (i = from; to >= i; ++i) __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
#pragma hiroba taskwait
  return sum;
}

int main(void) {
  const int n = N;
  int wrong = 0, m = M;
#pragma hiroba taskloop grainsize(4) out(a[i])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = i == 5 ? 1 : i + j;
#pragma hiroba taskloop grainsize(n / 4) in(a[i - 1:3]) inout(b[i][1:m - 2]) label("stencil")
  for (int i = 1; i < n - 1; i++) {
    if (i == 7) continue;
    for (int j = 1; j < m - 1; j++) b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
  }
#pragma hiroba taskloop grainsize(10) in(b[1 + k][1], b[k + 2][2]) out(where[k]) on(k / 10 % sms_nprocs)
  for (unsigned long k = 0; k < N - 2; k++) where[k] = sms_rank + (b[k + 1][1] > 1e9);
#pragma hiroba task inout(wrong)
  {
#pragma hiroba taskloop grainsize(5) concurrent(wrong)
    for (int k = 0; k <= 9; k++)
      if (k == 9) __atomic_fetch_add(&wrong, 0, __ATOMIC_RELAXED);
  }
#pragma hiroba taskwait
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) {
      double expected = 4 * (i + j);
      if (i == 5) expected = 4 + 2 * j + 2;
      if (i == 4 || i == 6) expected = 4 * (i + j) - (5 + j) + 1;
      wrong += i == 5 ? b[i][j] != i - 1 + j + i + 1 + j + 2 : i != 7 && b[i][j] != expected;
    }
  for (int k = 0; k < N - 2; k++) wrong += where[k] != k / 10 % sms_nprocs;
  return verdict(wrong + (add(3, 8) != 33));
}
