/* What leaves an inner loop or a switch, and continue, stay within an iteration. */
#include <smint.h>
#include "check.h"

enum { N = 80 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    if (i % 5 == 0) continue;
    for (int j = 0;; j++)
      if (j == i) {
        a[i] = j;
        break;
      }
    switch (i % 3) {
      case 0: a[i]++; break;
      default: break;
    }
    int left = 3;
    while (1)
      if (--left == 0) break;
    do
      if (left == 0) break;
    while (1);
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != (i % 5 == 0 ? 0 : i + (i % 3 == 0));
  return verdict(wrong);
}
