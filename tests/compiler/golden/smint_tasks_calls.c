/* Cholesky by tiles that functions compute: what they write follows from the types of their parameters. */
#include <smint.h>
#include "check.h"

enum { T = 6 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
long a[T][T][4];

static void diagonal(long* own, int k) {
  for (int i = 0; i < 4; i++) own[i] += k;
}
static void panel(const long* top, long* own) {
  for (int i = 0; i < 4; i++) own[i] = (3 * own[i] + top[i]) % 1009;
}
static void update(const long* left, const long* right, long* own) {
  for (int i = 0; i < 4; i++) own[i] = (own[i] + left[i] * right[3 - i]) % 1009;
}

int main(void) {
  long serial[T][T][4];
#pragma SMint parallel for tasks
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++)
      for (int k = 0; k < 4; k++) a[i][j][k] = i + 2 * j + 3 * k;
  for (int k = 0; k < T; k++) {
#pragma SMint parallel for tasks tile(1)
    for (int i = k; i <= k; i++) diagonal(a[i][i], i);
#pragma SMint parallel for tasks tile(1)
    for (int i = k + 1; i < T; i++) panel(a[k][k], a[i][k]);
#pragma SMint parallel for tasks tile(1, 1)
    for (int i = k + 1; i < T; i++)
      for (int j = k + 1; j <= i; j++) update(a[i][k], a[j][k], a[i][j]);
  }
  int wrong = 0;
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++)
      for (int k = 0; k < 4; k++) serial[i][j][k] = i + 2 * j + 3 * k;
  for (int k = 0; k < T; k++) {
    diagonal(serial[k][k], k);
    for (int i = k + 1; i < T; i++) panel(serial[k][k], serial[i][k]);
    for (int i = k + 1; i < T; i++)
      for (int j = k + 1; j <= i; j++) update(serial[i][k], serial[j][k], serial[i][j]);
  }
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++)
      for (int k = 0; k < 4; k++) wrong += a[i][j][k] != serial[i][j][k];
  return verdict(wrong);
}
