#include <smint.h>
#include "check.h"

#define N 90
#pragma SMint shared ::[NPROCS][](0,NPROCS);
double array[N][N], copy[N][N];
#pragma SMint shared ::[NPROCS][1](0,NPROCS)
int number[N][N];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) array[i][j] = copy[i][j] = number[i][j] = i - j;
  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += array[i][j] != i - j || copy[i][j] != i - j || number[i][j] != i - j;
  return verdict(wrong);
}
