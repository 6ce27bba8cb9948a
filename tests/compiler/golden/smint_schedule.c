#include <smint.h>
#include "check.h"

enum { N = 240, ROUNDS = 20 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], done[N], b[N][N];

// Each iteration is done once, whatever ranks do it, in all rounds.
static int rounds(void) {
  int wrong = 0;
  for (int round = 1; round <= ROUNDS; round++) {
#pragma SMint parallel for schedule(dynamic, 1 + round % 3)
    for (int i = 0; i < N; i++) {
      done[i]++;
      a[i] = i + round;
    }
#pragma SMint parallel for schedule(nonmonotonic : guided) nowait
    for (int i = N - 1; i >= 2; i -= 3) done[i]++;
#pragma SMint parallel for schedule(guided, 4) collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) b[i][j] = a[j] + i;
    for (int i = 0; i < N; i++) wrong += done[i] != round * (1 + i % 3 / 2) || b[i][N - 1 - i] != N - 1 + round;
#pragma SMint barrier
  }
  return wrong;
}

static int threads(void) {
  int sum = 0;
#pragma SMint parallel for schedule(dynamic, 2)
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
  for (int i = 0; i < N; i++) sum += a[i];
  return sum != N * (N - 1) / 2 + N * ROUNDS;
}

int main(void) { return verdict(rounds() + threads()); }
