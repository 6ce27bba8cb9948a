#include <smint.h>
#include "check.h"

#define N 64
#define WIDTH (N / 2)
#define RANKS NPROCS
#define PIECES (1 + RANKS / 2)
#define RANGE 0, RANKS
#define TOTAL sum
#define AT_MOST(n) ((n) < RANKS ? (n) : RANKS)
#define ADD(op, what) reduction(op : what)
#define ROWS(p) ::[p][] RANKS_FROM(0)
#define RANKS_FROM(first) (first, RANKS)
#pragma SMint shared ::[PIECES][](RANGE)
int a[N][WIDTH];
#pragma SMint shared ::[AT_MOST(2)](0, NPROCS)
int c[N];
#pragma SMint shared ROWS(AT_MOST(3))
int d[N][2];
#pragma SMint shared ::[RANKS](0, RANKS) \
  // continued
int b[N];

int main(void) {
  int sum = 0;
#pragma SMint parallel for ADD(+, TOTAL)
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < WIDTH; j++) a[i][j] = 1;
    b[i] = i;
    c[i] = 2 * i;
    d[i][0] = d[i][1] = 3 * i;
    sum += i;
  }
#pragma SMint preload a[0:N][0:WIDTH]
  int wrong = sum != N * (N - 1) / 2;
  for (int i = 0; i < N; i++) wrong += a[i][WIDTH - 1] != 1 || b[i] != i;
  for (int i = 0; i < N; i++) wrong += c[i] != 2 * i || d[i][1] != 3 * i;
  return verdict(wrong);
}
