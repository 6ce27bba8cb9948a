/* For option report: one task for each element; with an argument, one for each block of them. Then loops of long
   iterations. */
#include <stdio.h>

enum { many = 1 << 20, block = 1 << 14, steps = 1000000 };
static double values[many];

static double step(double x) { return x * 1.0000001 + 1e-9; }

int main(int argc, char** argv) {
  (void)argv;
  double sum = 0;
#pragma omp parallel
#pragma omp single
  if (argc == 1) {
    for (int i = 0; i < many; ++i)
#pragma omp task
      values[i] = step(i);
  } else {
#pragma omp taskloop grainsize(block)
    for (int i = 0; i < many; ++i) values[i] = step(i);
  }
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 256; ++i) {
    double x = values[i];
    for (int k = 0; k < steps; ++k) x = step(x);
    sum += x;
  }
  printf("%g\n", sum);
  return 0;
}
