/* Types that neither a 64-bit integer nor a double holds, arrays, and sections of them. */
#include <complex.h>
#include <smint.h>
#include <stdint.h>
#include <stdlib.h>
#include "check.h"

enum { N = 100 };
typedef unsigned long bits_t;
#pragma SMint shared ::[NPROCS](0, NPROCS)
double v[N];
static int bins[7];
static long table[3][4];

int main(void) {
  double complex turn = 1, sum = 1 + 2 * I;
  uint64_t greatest = 1, least = UINT64_MAX;
  long double fine = 0x1p63L;
  bits_t all = 0;
  double* weights = calloc(30, sizeof *weights);
  double tops[2] = {-1, -1};
#pragma SMint parallel for reduction(+ : sum) reduction(* : turn)
  for (int i = 0; i < N; i++) {
    v[i] = i;
    sum += 1 + i * I;
    if (i % 50 == 0) turn *= I;
  }
#pragma SMint parallel for reduction(max : greatest) reduction(min : least) reduction(| : all) reduction(+ : fine)
  for (int i = 0; i < N; i++) {
    uint64_t high = (uint64_t)i << 57;
    if (high > greatest) greatest = high;
    if (high + 1 < least) least = high + 1;
    all |= (bits_t)1 << (i % 64);
    fine += 1;
  }
#pragma SMint parallel for reduction(max : tops)
#pragma omp parallel for reduction(+ : bins[ : 7], table) reduction(default, + : weights[10 : 10])
  for (int i = 0; i < N; i++) {
    bins[i % 7]++;
    table[i % 3][i % 4] += i;
    weights[10 + i % 10] += v[i];
    if (v[i] > tops[i % 2]) tops[i % 2] = v[i];
  }
  int wrong = (creal(sum) != N + 1) + (cimag(sum) != N * (N - 1) / 2 + 2) + (creal(turn) != -1) + (cimag(turn) != 0);
  wrong += (greatest != (uint64_t)(N - 1) << 57) + (least != 1) + (all != UINT64_MAX) + (fine != 0x1p63L + N);
  wrong += (tops[0] != 98) + (tops[1] != 99);
  for (int i = 0; i < 7; i++) wrong += bins[i] != (N + 6 - i) / 7;
  for (int i = 0; i < 30; i++) wrong += weights[i] != (i / 10 == 1 ? 450 + 10 * (i - 10) : 0);
  for (int i = 0; i < N; i++) table[i % 3][i % 4] -= i;
  for (int i = 0; i < 12; i++) wrong += table[i / 4][i % 4] != 0;
  free(weights);
  return verdict(wrong);
}
