/* Loops whose tiles are tasks: a loop inside that has no iterations in some tiles, or in none; and variables at file
 * scope, which the program changes while tasks are under way. */
#include <smint.h>
#include "check.h"

enum { N = 40, STEPS = 5 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
long a[N][N], b[N][N];
#pragma SMint shared ::[NPROCS](0, NPROCS)
long x[N], y[N];

static long (*from)[N] = 0, (*to)[N] = 0;
static int step, none = 0;

int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < N; i++) {
    x[i] = 1000 + i, y[i] = i;
    for (int j = 0; j < N; j++) a[i][j] = i + j, b[i][j] = -1;
  }
#pragma SMint parallel for tasks tile(4)
  for (int i = 0; i < N; i++) {
    x[i] = i;
    for (int j = 0; j < i; j++) x[i] += 100 * j;
  }
#pragma SMint parallel for tasks tile(4)
  for (int i = 0; i < N; i++) {
    y[i] = y[i] + 2;
    for (int j = 0; j < none; j++) y[i] = a[i][j];
  }
#pragma SMint parallel for tasks tile(16, auto)
  for (int i = N - 1; i >= 0; i -= 3)
    for (int j = i - 1; j >= 0; j -= 2)
      if (j % 4 != 0) b[i][j] = 7;
  int before = 0;
#pragma SMint parallel for reduction(+ : before)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      before += b[i][j] != ((N - 1 - i) % 3 == 0 && j < i && (i - j) % 2 == 1 && j % 4 != 0 ? 7 : -1);
  from = a, to = b;
  for (step = 0; step < STEPS; step++) {
#pragma SMint parallel for tasks tile(8)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) to[i][j] = from[N - 1 - i][j] + step;
    long(*swap)[N] = from;
    from = to, to = swap;
  }
  int wrong = 0;
#pragma SMint parallel for reduction(+ : wrong)
  for (int i = 0; i < N; i++) {
    wrong += (x[i] != i + 50L * i * (i - 1)) + (y[i] != i + 2);
    for (int j = 0; j < N; j++) wrong += from[i][j] != N - 1 - i + j + STEPS * (STEPS - 1) / 2;
  }
  return verdict(wrong + before);
}
