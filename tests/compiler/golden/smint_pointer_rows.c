/* Arrays of pointers to rows are no arrays of rows: what they point to is found when it is used. */
#include <smint.h>
#include "check.h"

enum { N = 300 };
typedef int row[N];
typedef int *start;
#pragma SMint shared ::[NPROCS][](0, NPROCS)
int a[N][N], b[N][N];

int main(void) {
  int *from[N], **into, *backwards[N];
  start typed[N];
  row *straight = b;
  into = backwards;
  for (int i = 0; i < N; i++) from[i] = a[N - 1 - i], into[i] = b[i], typed[i] = b[N - 1 - i];
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i;
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) into[i][j] = from[i][j] + j;
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) straight[i][j] += typed[N - 1 - i][j] - b[i][j] + 1;
  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += b[i][j] != N - 1 - i + j + 1;
  return verdict(wrong);
}
