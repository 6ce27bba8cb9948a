/* Tiles that ranks have in turns: where a tile is, tables say, and numbers made of a loop's variable. */
#include <smint.h>
#include "check.h"

enum { T = 7, PLACES = 9 };
/* Pieces of the first dimension belong to ranks; row i of tiles is in piece i % NPROCS. */
#pragma SMint shared ::[NPROCS][](0, NPROCS)
long a[16][T][4];
#pragma SMint shared ::[NPROCS][](0, NPROCS)
long b[PLACES][PLACES];
static int row[T];

static void fill(long own[4], int i, int j) {
  for (int k = 0; k < 4; k++) own[k] = 100 * i + 10 * j + k;
}
static void add(const long* left, const long* right, long* own) {
  for (int k = 0; k < 4; k++) own[k] = (own[k] + left[k] * right[3 - k]) % 1009;
}

int main(void) {
  const int pieces = (16 + NPROCS - 1) / NPROCS;
  int column[T], wrong = 0;
  long serial[T][T][4];
  for (int i = 0; i < T; i++) row[i] = i % NPROCS * pieces + i / NPROCS, column[i] = T - 1 - i;
#pragma SMint parallel for tasks tile(1, 1)
  for (int i = 0; i < T; i++)
    for (int j = 0; j <= i; j++) fill(a[row[i]][column[j]], i, j);
  for (int k = 0; k < T; k++) {
#pragma SMint parallel for tasks tile(1, 1)
    for (int i = k + 1; i < T; i++)
      for (int j = k + 1; j <= i; j++)
        add(a[row[i]][column[k]], a[row[j]][column[k]], a[row[i]][column[j]]);
  }
#pragma SMint parallel for tasks tile(2)
  for (int i = 0; i < PLACES; i++)
    for (int j = 0; j < PLACES; j++) b[i % 3 * 3 + i / 3][(j + 4) % PLACES] = 10 * i + j;
  for (int i = 0; i < T; i++)
    for (int j = 0; j <= i; j++) fill(serial[i][j], i, j);
  for (int k = 0; k < T; k++)
    for (int i = k + 1; i < T; i++)
      for (int j = k + 1; j <= i; j++) add(serial[i][k], serial[j][k], serial[i][j]);
  for (int i = 0; i < T; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < 4; k++) wrong += a[row[i]][column[j]][k] != serial[i][j][k];
  for (int i = 0; i < PLACES; i++)
    for (int j = 0; j < PLACES; j++) wrong += b[i % 3 * 3 + i / 3][(j + 4) % PLACES] != 10 * i + j;
  return verdict(wrong);
}
