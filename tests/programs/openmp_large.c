/* Variables of more than 2 GiB, of -mcmodel=medium: with and without first values and constant, beside small ones. */
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 4000 };
static double zeros[320L << 20]; /* 2.5 GiB */
static double values[PLACES * 10] = {1, 2, 3};
static const double constants[PLACES * 10] = {4, 5, 6};
static double small[3] = {7, 8, 9};
static int given, taken;
static const long apart = sizeof zeros / sizeof zeros[0] / PLACES;

static void expect(int good, const char* what, int i) {
  if (!good) printf("%s: wrong at %d\n", what, i), exit(1);
}

int main(void) {
  for (int i = 0; i < 3; i++)
    expect(values[i] == 1 + i && constants[i] == 4 + i && small[i] == 7 + i, "first value", i);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < PLACES; i++) {
    expect(zeros[i * apart] == 0, "variable without a first value", i);
    zeros[i * apart] = i + small[i % 3];
    values[i * 10] = i + constants[i % 3];
  }
#pragma omp parallel for schedule(static)
  for (int i = 0; i < PLACES; i++) { /* what another rank has written */
    const int other = PLACES - 1 - i;
    expect(zeros[other * apart] == other + 7 + other % 3, "large variable", other);
    expect(values[other * 10] == other + 4 + other % 3, "large variable with first values", other);
  }
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      values[1] = 10;
#pragma omp flush
#pragma omp atomic write
      given = 1;
    }
#pragma omp section
    {
      for (int seen = 0; !seen;) {
#pragma omp atomic read
        seen = given;
      }
#pragma omp flush
      taken = values[1] == 10;
    }
  }
  expect(taken, "what was flushed", 1);
  puts("ok");
  return 0;
}
