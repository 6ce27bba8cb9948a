/* Short parallel regions of an unchanged OpenMP program: regions TIMES prints a line of JSON, the microseconds that
   each kind of region takes, medians of batches of TIMES regions. All answers are checked. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../json.h"

enum { elements = 100 * 1024 / sizeof(double), arrays = 100, few = 64, chunks = 26, batches = 7 };

static double array[elements], reversed[elements], many[arrays][elements], small[few];
static double number;
static int step; /* of the kind that is measured */

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "regions: wrong answer of %s\n", what);
  exit(1);
}

static void reduction(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < few; ++i) sum += small[i];
  expect(sum == few * (few - 1) / 2, "reduction");
}

static void own_halves(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < elements; ++i) array[i] = step;
}

static void one_number(void) {
  int wrong = 0;
  number = step;
#pragma omp parallel reduction(+ : wrong)
  wrong += number != step;
  expect(wrong == 0, "one number");
}

static void read_parts(void) {
  int wrong = 0;
  for (int i = 0; i < elements; ++i) array[i] = step;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
  for (int i = 0; i < elements; ++i) wrong += array[i] != step;
  expect(wrong == 0, "parts that are read");
}

static void many_arrays(void) {
#pragma omp parallel for schedule(static)
  for (int k = 0; k < arrays; ++k) many[k][elements / 2] = step;
}

static void allocated(void) {
  double* const one = malloc(sizeof array);
  double* const other = malloc(sizeof array);
  expect(one != NULL && other != NULL, "malloc");
#pragma omp parallel for schedule(static)
  for (int i = 0; i < elements; ++i) one[i] = other[i] = i + step;
  expect(one[0] + other[elements - 1] == elements - 1 + 2. * step, "allocated arrays");
  free(one), free(other);
}

static void dynamic(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < chunks; ++i) small[i] = i;
}

static void cross(double* from) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < elements; ++i) from[i] = i + step;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < elements; ++i) reversed[i] = from[elements - 1 - i];
}

static void crossed(void) { cross(array); }
static void crossed_in_turn(void) { cross(many[step % arrays]); }

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double microseconds(void (*region)(void), int times) {
  double batch[batches];
  for (int k = 0; k < times; ++k, ++step) region(); /* what regions use is learnt */
  for (int b = 0; b < batches; ++b) {
    const double begin = omp_get_wtime();
    for (int k = 0; k < times; ++k, ++step) region();
    batch[b] = 1e6 * (omp_get_wtime() - begin) / times;
  }
  qsort(batch, batches, sizeof *batch, ascending);
  return batch[batches / 2];
}

/* Regions do not read what they have written last, so it is looked at when they have been measured. */
static void expect_crossed(const char* name) {
  expect(reversed[0] == elements - 1 + step - 1 && reversed[elements - 1] == step - 1, name);
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 200;
  static json_line line;
  expect(times > 0, "the number of regions, which is at least 1");
  for (int i = 0; i < few; ++i) small[i] = i;
  json_add(&line, "reduction", microseconds(reduction, times));
  json_add(&line, "own halves", microseconds(own_halves, times));
  for (int i = 0; i < elements; ++i) expect(array[i] == step - 1, "own halves");
  json_add(&line, "one number", microseconds(one_number, times));
  json_add(&line, "read parts", microseconds(read_parts, times));
  json_add(&line, "many arrays", microseconds(many_arrays, times));
  for (int k = 0; k < arrays; ++k) expect(many[k][elements / 2] == step - 1, "many arrays");
  json_add(&line, "allocated", microseconds(allocated, times));
  json_add(&line, "dynamic", microseconds(dynamic, times));
  for (int i = 0; i < chunks; ++i) expect(small[i] == i, "dynamic");
  json_add(&line, "crossed", microseconds(crossed, times));
  expect_crossed("crossed");
  json_add(&line, "crossed in turn", microseconds(crossed_in_turn, times));
  expect_crossed("crossed in turn");
  json_print(&line);
  return 0;
}
