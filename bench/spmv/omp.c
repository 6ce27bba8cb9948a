/* Also serial.c, without -fopenmp. */
#include "common.h"

int start[ROWS + 1], column[ENTRIES];
double value[ENTRIES], x[ROWS], y[ROWS];

int main(int argc, char** argv) {
  const int steps = steps_wanted(argc, argv);
  double *from = x, *to = y;
  double began = 0, sum = 0;

#pragma omp parallel for
  for (int i = 0; i < ROWS; i++) {
    start[i] = row_start(i);
    fill_row(i, &column[row_start(i)], &value[row_start(i)]);
    x[i] = first_value(i);
  }
  start[ROWS] = ENTRIES;

  for (int t = -WARM_UP; t < steps; t++) {
    if (t == 0) began = now();
#pragma omp parallel for
    for (int i = 0; i < ROWS; i++) {
      double dot = 0;
      for (int k = start[i]; k < start[i + 1]; k++) dot += value[k] * from[column[k]];
      to[i] = dot * SCALE;
    }
    double* const old = from;
    from = to;
    to = old;
  }
  const double seconds = now() - began;

#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < ROWS; i++) sum += from[i] * weight(i);
  report(steps, seconds, sum);
  return 0;
}
