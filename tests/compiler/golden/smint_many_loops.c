/* Loops one after another with the same bounds count once, so a body may have more of them than a table has rows. */
#include <smint.h>
#include "check.h"

#define B 4
#pragma SMint shared ::[NPROCS](0,NPROCS)
int a[16 * B * B], r[16 * B * B];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 16 * B * B; i++) r[i] = i;
#pragma SMint parallel for
  for (int x = 0; x < 16; ++x) {
    int l[B * B], m[B * B];
    for (int i = 0; i < B; ++i)
      for (int j = 0; j < B; ++j) m[i * B + j] = r[(x * B + i) * B + j];
    for (int i = 0; i < B; ++i)
      for (int j = 0; j < B; ++j) l[i * B + j] = 2 * m[i * B + j];
    for (int i = 1; i < B; ++i)
      for (int j = 1; j < B; ++j) l[i * B + j] += l[(i - 1) * B + j] - l[(i - 1) * B + j];
    for (int i = 0; i < B; ++i)
      for (int j = 0; j < B; ++j) l[i * B + j] += 1;
    for (int k = 0; k < B; ++k)
      for (int l_ = 0; l_ < B; ++l_) a[(x * B + k) * B + l_] = l[k * B + l_];
  }
  int wrong = 0;
  for (int i = 0; i < 16 * B * B; i++) wrong += a[i] != 2 * i + 1;
  return verdict(wrong);
}
