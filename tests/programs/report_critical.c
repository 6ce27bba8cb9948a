/* For option report: threads of all ranks that wait for each other in a critical section. */
#include <stdio.h>

static double step(double x) { return x * 1.0000001 + 1e-9; }

int main(void) {
  enum { times = 20000, steps = 10000 };
  double sum = 0;
#pragma omp parallel for
  for (int i = 0; i < times; ++i) {
#pragma omp critical
    for (int k = 0; k < steps; ++k) sum = step(sum);
  }
  printf("%g\n", sum);
  return 0;
}
