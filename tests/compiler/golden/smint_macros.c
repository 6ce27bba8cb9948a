#include <smint.h>
#include "check.h"

#define N 64
#define WIDTH (N / 2)
#define RANKS NPROCS
#define PIECES (1 + RANKS / 2)
#define RANGE 0, RANKS
#define TOTAL sum
#pragma SMint shared ::[PIECES][](RANGE)
int a[N][WIDTH];
#pragma SMint shared ::[RANKS](0, RANKS) \
  // continued
int b[N];

int main(void) {
  int sum = 0;
#pragma SMint parallel for reduction(+ : TOTAL)
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < WIDTH; j++) a[i][j] = 1;
    b[i] = i;
    sum += i;
  }
#pragma SMint preload a[0:N][0:WIDTH]
  int wrong = sum != N * (N - 1) / 2;
  for (int i = 0; i < N; i++) wrong += a[i][WIDTH - 1] != 1 || b[i] != i;
  return verdict(wrong);
}
