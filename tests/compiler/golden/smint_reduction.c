/* Each operator, over ranks alone; what a variable held before counts once. */
#include <smint.h>
#include "check.h"

enum { N = 200 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int v[N];

int main(void) {
  int sum = 1000, minus = 0, lowest = 50, highest = -50, none = 0, one = 1, both = ~0, either = 0, differ = 0;
  double product = 2, average = 0, top = -1e9;
  long long wide = 1LL << 40;
  unsigned char small = 1;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) v[i] = i - 100;
#pragma SMint parallel for reduction(+ : sum, average) reduction(- : minus) reduction(* : product)
  for (int i = 0; i < N; i++) {
    sum += v[i];
    average += v[i] / 2.0;
    minus -= v[i];
    if (i % 20 == 0) product *= 2;
  }
#pragma SMint parallel for reduction(min : lowest), reduction(max : highest, top)
  for (int i = 0; i < N; i++) {
    if (v[i] < lowest) lowest = v[i];
    highest = v[i] > highest ? v[i] : highest;
    if (v[i] > top) top = v[i];
  }
#pragma SMint parallel for reduction(& : both) reduction(| : either) reduction(^ : differ)
  for (int i = 0; i < N; i++) {
    both &= ~(i & 4);
    either |= i;
    differ ^= i;
  }
#pragma SMint parallel for reduction(&& : one) reduction(|| : none) reduction(+ : wide, small)
  for (int i = 0; i < N; i++) {
    one = one && i >= 0;
    none = none || i == 500;
    wide += i;
    small += i % 2 == 0 && i < 20;
  }
  int xor_of_all = 0;
  for (int i = 0; i < N; i++) xor_of_all ^= i;
  int wrong = (sum != 1000 - 100) + (minus != 100) + (average != -50) + (product != 2048);
  wrong += (lowest != -100) + (highest != 99) + (top != 99);
  wrong += (both != ~4) + (either != 255) + (differ != xor_of_all);
  wrong += (one != 1) + (none != 0) + (wide != (1LL << 40) + N * (N - 1) / 2) + (small != 11);
  return verdict(wrong);
}
