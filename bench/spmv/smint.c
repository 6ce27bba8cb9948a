#include <smint.h>

#include "common.h"

#pragma SMint shared ::[NPROCS](0, NPROCS)
int start[ROWS + 1], column[ENTRIES];
#pragma SMint shared ::[NPROCS](0, NPROCS)
double value[ENTRIES], x[ROWS], y[ROWS];

int main(int argc, char** argv) {
  const int steps = steps_wanted(argc, argv);
  double *from = x, *to = y;
  double began = 0, sum = 0;

#pragma SMint parallel for affinity(x[i])
  for (int i = 0; i < ROWS; i++) {
    start[i] = row_start(i);
    fill_row(i, &column[row_start(i)], &value[row_start(i)]);
    x[i] = first_value(i);
  }
#pragma SMint single
  start[ROWS] = ENTRIES;

  for (int t = -WARM_UP; t < steps; t++) {
    if (t == 0) began = now();
#pragma SMint parallel for repeat
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

#pragma SMint parallel for reduction(+ : sum)
  for (int i = 0; i < ROWS; i++) sum += from[i] * weight(i);
  if (MYPID == 0) report(steps, seconds, sum);
  return 0;
}
