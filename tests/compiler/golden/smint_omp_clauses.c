/* Clauses of OpenMP that name shared arrays, and default(none), which wants every variable named. */
#include <smint.h>
#include "check.h"

enum { N = 64 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double u[N][N], v[N][N];
#pragma SMint shared ::[](0, 1)
int flag;
static double diagonal[N];

int main(void) {
  int i, j, n = N;
  double sum = 0;
#pragma SMint parallel for
#pragma omp parallel for default(none) private(j) shared(u, v) firstprivate(n) collapse(2)
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) u[i][j] = i * n + j, v[i][j] = 0;
#pragma SMint parallel for
#pragma omp parallel for default(none) private(j) shared(u, v, n, flag) reduction(+ : sum) num_threads(flag + 2)
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++) {
      v[i][j] = u[i - 1][j] + u[i + 1][j] + flag;
      sum += 1;
    }
#pragma SMint parallel for
  for (i = 1; i < n - 1; i++) {
#pragma omp parallel for simd default(none) shared(u, v, n, i) aligned(u, v : 8)
    for (j = 1; j < n - 1; j++) u[i][j] += v[i][j];
  }
#pragma omp parallel for default(none) shared(u, diagonal) firstprivate(n)
  for (i = 0; i < n; i++) diagonal[i] = u[i][i] + 0 * NPROCS;
  int wrong = sum != (N - 2) * (N - 2);
  for (i = 1; i < N - 1; i++) wrong += diagonal[i] != 3 * (i * N + i);
  return verdict(wrong);
}
