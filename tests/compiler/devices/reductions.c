/* Reductions of variables on devices: all operators and kinds of types, in both directives, beside an array that is
 * written, over columns, in loops without iterations, and of a variable at file scope. */
#include <smint.h>
#include <stdint.h>

#include "../golden/check.h"

enum { N = 150, M = 7 };
typedef unsigned long bits_t;
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[N][M];
#pragma SMint shared ::[NPROCS](0, NPROCS)
int v[N];
static int64_t total = 1000;

static int check_operators(void) {
  long sum = 7, difference = 5, product = 3;
  int least = 1, greatest = -5, odd = 0, even = 1, some = 0;
  bits_t all = ~0ul, any = 1, toggled = 9;
  float few = 0.5f;
#pragma SMint parallel for device(COUNT) reduction(+ : sum, few, total) reduction(- : difference)
#pragma DIRECTIVE reduction(min : least) reduction(max : greatest)
  for (int i = 0; i < N; i++) {
    sum += v[i], few += v[i] / 4, difference -= i, total += i;
    if (v[i] - N < least) least = v[i] - N;
    if (v[i] > greatest) greatest = v[i];
  }
#pragma SMint parallel for device(COUNT) reduction(* : product) reduction(& : all) reduction(^ : toggled)
#pragma DIRECTIVE reduction(| : any) reduction(&& : even) reduction(|| : odd, some)
  for (int i = N - 1; i >= 0; i -= 2) {
    if (i == 21) product *= 4;
    all &= ~((bits_t)1 << i % 50), any |= (bits_t)1 << i % 50, toggled ^= (bits_t)1 << i % 64;
    even = even && v[i] == i, odd = odd || v[i] == 77, some = some || v[i] == 76;
  }
  bits_t bits = 0, turned = 9;
  for (int i = 1; i < N; i += 2) bits |= (bits_t)1 << i % 50, turned ^= (bits_t)1 << i % 64;
  float quarters = 0.5f;
  for (int i = 0; i < N; i++) quarters += i / 4;
  int wrong = (sum != 7 + N * (N - 1) / 2) + (difference != 5 - N * (N - 1) / 2) + (product != 12) + (least != -N);
  wrong += (greatest != N - 1) + (all != ~bits) + (any != (bits | 1)) + (toggled != turned) + (few != quarters);
  return wrong + (total != 1000 + N * (N - 1) / 2) + (even != 1) + (odd != 1) + (some != 0);
}

static int check_beside_arrays(double scale) {
  double sum = 1, norm = 0;
  uint64_t highest = 3;
  long double fine = 0x1p63L;
#pragma SMint parallel for device(COUNT) reduction(+ : sum, fine)
#pragma DIRECTIVE reduction(max : norm, highest)
  for (int i = 0; i < N; i++) {
    double row = 0;
    for (int j = 0; j < M; j++) {
      a[i][j] = a[i][j] * scale + j;
      row += a[i][j];
    }
    sum += row, fine += 1;
    if (row > norm) norm = row;
    if ((uint64_t)i << 57 > highest) highest = (uint64_t)i << 57;
  }
  double expected = 1, most = 0;
  int wrong = 0;
  for (int i = 0; i < N; i++) {
    double row = 0;
    for (int j = 0; j < M; j++) wrong += a[i][j] != i * scale + j, row += a[i][j];
    expected += row, most = row > most ? row : most;
  }
  return wrong + (sum != expected) + (norm != most) + (fine != 0x1p63L + N) + (highest != (uint64_t)127 << 57);
}

static int check_columns_and_nothing(int from) {
  double sum = 0, none = 4;
  int last = 2, unused = 6;
#pragma SMint parallel for device(COUNT) reduction(+ : sum, unused) nowait
#pragma DIRECTIVE
  for (int j = 1; j < M; j += 2)
    for (int i = 0; i < N; i++) sum += a[i][j];
#pragma SMint parallel for device(COUNT) reduction(+ : none) reduction(max : last)
#pragma DIRECTIVE
  for (int i = from; i < N; i++) none += v[i], last = 9;
  double expected = 0;
  for (int j = 1; j < M; j += 2)
    for (int i = 0; i < N; i++) expected += a[i][j];
  return (sum != expected) + (none != 4) + (last != 2) + (unused != 6);
}

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    v[i] = i;
    for (int j = 0; j < M; j++) a[i][j] = i;
  }
  int wrong = check_operators();
  wrong += check_beside_arrays(2);
  wrong += check_columns_and_nothing(N);
  return verdict(wrong);
}
