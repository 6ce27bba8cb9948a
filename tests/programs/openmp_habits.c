/* Pages that threads and main write and read by habits, which change from phase to phase: before every barrier, every
   second, seldom, never. What each thread reads is what was written last. Arguments: the seed, and the number of
   phases.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGES = 160, WORDS = 512, MOST = 8, HABITS = 6 };
static const int periods[HABITS] = {0, 1, 1, 2, 7, 40};
static struct {
  int values[WORDS];
} variable[PAGES], *object;
static struct {
  int writes, reads; /* period in steps; 0: never */
  int writer;        /* thread; -1: main */
  int often;         /* main's thread writes a word that nobody reads, before every barrier */
} habits[PAGES];
static int counted, wrong_page = -1;

static unsigned state;
static int draw(int n) {
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 8) % n;
}

static int is_due(int period, int step) { return period > 0 && step % period == 0; }

/* Thread and main write words of their own, each value the step, so pages with several writers are tried, too. */
static void write_pages(int writer, int step) {
  for (int p = 0; p < PAGES; p++) {
    if (habits[p].writer != writer || !is_due(habits[p].writes, step)) continue;
    variable[p].values[writer + 1] = object[p].values[writer + 1] = step;
    variable[p].values[WORDS - 1 - p % 100] = step;
  }
}

static void write_often(int step) {
  for (int p = 0; p < PAGES; p++)
    if (habits[p].often) variable[p].values[MOST + 2] = object[p].values[MOST + 2] = step;
}

static void read_pages(int thread, int step, const int* last) {
  for (int p = 0; p < PAGES; p++) {
    if (!is_due(habits[p].reads, step + thread)) continue;
    const int word = habits[p].writer + 1;
    const int seen = variable[p].values[word], other = object[p].values[word],
              third = variable[p].values[WORDS - 1 - p % 100];
    if (seen == last[p] && other == last[p] && third == last[p]) continue;
#pragma omp critical
    if (wrong_page < 0) {
      printf("thread %d, step %d, page %d: %d, %d, %d in the place of %d\n", thread, step, p, seen, other, third,
             last[p]);
      wrong_page = p;
    }
  }
}

int main(int argc, char** argv) {
  state = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  const int phases = argc > 2 ? atoi(argv[2]) : 12,
            threads = omp_get_max_threads() < MOST ? omp_get_max_threads() : MOST;
  static int last[PAGES];
  object = calloc(PAGES, sizeof *object);
  int step = 1, expected = 0;
  for (int phase = 0; phase < phases && wrong_page < 0; phase++) {
    const int one_region = draw(2), counts = draw(4) == 0, steps = 10 + draw(90);
    for (int p = 0; p < PAGES; p++) {
      habits[p].writes = periods[draw(HABITS)], habits[p].reads = periods[draw(HABITS)];
      habits[p].writer = draw(threads + 1) - 1, habits[p].often = draw(3) == 0;
      for (int word = 0; word <= threads; word++) variable[p].values[word] = object[p].values[word] = last[p];
      variable[p].values[WORDS - 1 - p % 100] = last[p];
    }
    for (const int end = step + steps; step < end && wrong_page < 0; step++) {
      for (int p = 0; p < PAGES; p++)
        if (is_due(habits[p].writes, step)) last[p] = step;
      write_pages(-1, step);
      write_often(step);
#pragma omp parallel num_threads(threads)
      {
        const int thread = omp_get_thread_num();
        write_pages(thread, step);
        if (thread == 0) write_often(step);
        if (counts) {
#pragma omp critical(count)
          counted++;
        }
        if (one_region) {
#pragma omp barrier
          if (thread == 0) write_often(step);
          read_pages(thread, step, last);
        }
      }
      if (!one_region) {
        write_often(step);
#pragma omp parallel num_threads(threads)
        {
          if (omp_get_thread_num() == 0) write_often(step);
          read_pages(omp_get_thread_num(), step, last);
        }
      }
      expected += counts * threads;
    }
  }
  if (counted != expected) printf("counted %d in the place of %d\n", counted, expected);
  if (wrong_page >= 0 || counted != expected) return 1;
  puts("ok");
  return 0;
}
