/* For option report: report_directives CASE [remedied] has one problem, or is the same program without it. */
#include <smint.h>
#include <stdio.h>
#include <string.h>

enum { many = 1 << 20, rounds = 100 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[many];
#pragma SMint shared ::[](0, 1)
double total;

static double compute(int units) {
  double x = 1;
  for (int i = 0; i < units * 1000; i++) x = x * 1.0000001 + 1e-9;
  return x;
}

/* Each rank reads every eighth page of what all have written, and others each time. */
static double missing_preload(int remedied) {
  double sum = 0;
  for (int round = 0; round < rounds; round++) {
#pragma SMint parallel for
    for (int i = 0; i < many; i++) a[i] = round + i;
    int first = round % 8 * 512;
    if (remedied) {
#pragma SMint preload a[first : many / 4096 : 4096]
    }
    for (int i = first; i < many; i += 4096) sum += a[i]; /* reads of all ranks' parts */
#pragma SMint barrier
  }
  return sum;
}

static double lock_contention(int remedied) {
  double sum = 0;
  if (remedied) {
#pragma SMint parallel for reduction(+ : sum)
    for (int i = 0; i < 2000; i++) sum += compute(100);
    return sum;
  }
#pragma SMint parallel for
  for (int i = 0; i < 2000; i++) {
#pragma SMint critical
    total += compute(100);
  }
  return total;
}

static double load_imbalance(int remedied) {
  double sum = 0;
  for (int round = 0; round < rounds; round++) {
    if (remedied) {
#pragma SMint parallel for reduction(+ : sum) schedule(dynamic, 4)
      for (int i = 0; i < 256; i++) sum += compute(i < 64 ? 40 : 4);
    } else {
#pragma SMint parallel for reduction(+ : sum)
      for (int i = 0; i < 256; i++) sum += compute(i < 64 ? 40 : 4); /* uneven */
    }
  }
  return sum;
}

static double collective(int remedied) {
  double sum = 0;
  if (remedied) {
#pragma SMint parallel for reduction(+ : sum)
    for (int i = 0; i < many; i++) sum += a[i] + 1;
    return sum + compute(100000);
  }
  for (int i = 0; i < 200000; i++) {
#pragma SMint parallel for reduction(+ : sum)
    for (int k = 0; k < 10; k++) sum += 1; /* short */
  }
  return sum;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int remedied = argc > 2;
  double result = 0;
  if (strcmp(name, "missing_preload") == 0) result = missing_preload(remedied);
  if (strcmp(name, "lock_contention") == 0) result = lock_contention(remedied);
  if (strcmp(name, "load_imbalance") == 0) result = load_imbalance(remedied);
  if (strcmp(name, "collective") == 0) result = collective(remedied);
  if (MYPID == 0) printf("%g\n", result);
}
