#include <smint.h>
#include "check.h"

enum { N = 60 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
int a[N][N];
#pragma SMint shared ::[1](0, 1)
int v[N];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i * j;
#pragma SMint single
  for (int i = 0; i < N; i++) v[i] = i;
  const int half = N / 2;
#pragma SMint preload a[0:N][0:N]
#pragma SMint preload (v[0:N])
#pragma SMint preload a[half:half][0:N / 2:2]
#pragma SMint preload a[3][0:N]
  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += a[i][j] != i * v[j];
  return verdict(wrong);
}
