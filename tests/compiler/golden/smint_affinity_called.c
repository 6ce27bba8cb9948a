/* The element that says who computes an iteration need not be one that the loop touches. */
#include <smint.h>
#include "check.h"

#define N 32
#define ROW 512 /* a page */
#pragma SMint shared ::[NPROCS][](0,NPROCS)
double a[N][ROW];
#pragma SMint shared ::[NPROCS](0,NPROCS)
int who[N];

static void work(double* row, int i) {
  for (int j = 0; j < ROW; j++) row[j] = i * ROW + j;
  who[i] = MYPID;
}

int main(void) {
  const int last = N - 1;
#pragma SMint parallel for affinity(a[last - i][0])
  for (int i = 0; i < N; i++) work(a[i], i);
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += who[i] != sms_home(a[last - i]) || a[i][ROW - 1] != i * ROW + ROW - 1;
  return verdict(wrong);
}
