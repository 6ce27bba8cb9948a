/* Loops whose variables and accesses are easily misread: a copied index, a hidden name, a pointer that walks. */
#include <smint.h>
#include "check.h"

enum { N = 90 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[N], twice[2 * N];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    int n = i;
    a[n] = 2 * n;
    const int m = 2 * n + 1;
    twice[m] = m, twice[m - 1] = m - 1;
  }
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    int b_of_me[2] = {a[i], a[(i + 1) % N]};
    int a = b_of_me[0];
    b[i] = a + b_of_me[1];
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != 2 * i || b[i] != 2 * i + 2 * ((i + 1) % N);
  for (int i = 0; i < 2 * N; i++) wrong += twice[i] != i;
  return verdict(wrong);
}
