/* For option report: report_coarrays CASE [remedied] has one problem, or is the same program without it. */
#include <stdio.h>
#include <string.h>
#include <xmp.h>

enum { rounds = 100 };
/* clang-format off */
double total:[*];
xmp_lock_t lock:[*];
/* clang-format on */
static double sum;

static double compute(int units) {
  double x = 1;
  for (int i = 0; i < units * 1000; i++) x = x * 1.0000001 + 1e-9;
  return x;
}

static void lock_contention(int remedied) {
  double mine = 0;
  for (int i = 0; i < 1000; i++) {
    if (remedied) {
      mine += compute(100);
      continue;
    }
    /* clang-format off */
#pragma xmp lock(lock:[0])
    mine += compute(100);
    total:[0] = total:[0] + 1;
#pragma xmp unlock(lock:[0])
    /* clang-format on */
  }
  sum = mine;
}

static void load_imbalance(int remedied) {
  for (int round = 0; round < rounds; round++) {
    sum += compute(remedied || xmp_node_num() != 1 ? 800 : 3200);
    xmp_sync_all(0); /* the end of uneven work */
  }
}

static void collective(int remedied) {
  double all = 0;
  for (int i = 0; i < 100000; i++) {
    sum += compute(1);
    all = sum;
    if (!remedied) {
#pragma xmp reduction(+ : all)
    }
  }
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int remedied = argc > 2;
  if (strcmp(name, "lock_contention") == 0) lock_contention(remedied);
  if (strcmp(name, "load_imbalance") == 0) load_imbalance(remedied);
  if (strcmp(name, "collective") == 0) collective(remedied);
  xmp_sync_all(0);
  printf("%g\n", sum);
  return 0;
}
