/* An OpenMP program without anything of Hiroba: loops, sections, regions and taskgroups that threads of all ranks
 * leave. Prints the parts that are wrong, and "ok". Needs OMP_CANCELLATION=true. */
#include <omp.h>
#include <stdio.h>

enum { n = 100 };
static int wrong;

static void expect(const char* what, double got, double wanted) {
  if (got == wanted) return;
  printf("%s: %.17g instead of %.17g\n", what, got, wanted);
  wrong = 1;
}

static void cancellation(void) {
  int found = -1, after = 0, done = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10000; ++i) {
      if (i == 17) {
#pragma omp atomic write
        found = i;
#pragma omp cancel for
      }
#pragma omp cancellation point for
#pragma omp atomic
      done += 1;
    }
#pragma omp for
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
      after += 1;
    }
  }
  expect("a loop that is cancelled", found == 17 && done < 10000, 1);
  expect("a loop after it", after, n);
  int reached = 0;
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
    }
#pragma omp barrier
#pragma omp atomic
    reached += 1;
  }
  expect("a region that is cancelled", reached, 0);
  int sections = 0;
#pragma omp parallel
  {
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp cancel sections
#pragma omp atomic
        sections += 1;
      }
#pragma omp section
      {
#pragma omp cancellation point sections
      }
    }
#pragma omp barrier
  }
  expect("sections that are cancelled", sections, 0);
  int regions = 0;
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp atomic
    regions += 1;
  }
  expect("a region after a cancelled one", regions, omp_get_max_threads());
}

/* A taskgroup and a loop with reductions of tasks in it are cancelled together, by a task of either. */
static void cancelled_taskgroup_has_a_loop_that_reduces_tasks(void) {
  int ran = 0, counted = 0, after = 0;
#pragma omp parallel
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
#pragma omp taskwait
#pragma omp for reduction(task, + : counted)
    for (int i = 0; i < 64; ++i) {
      counted += 1;
#pragma omp task in_reduction(+ : counted)
      {
        counted += 1;
#pragma omp atomic
        ran += 1;
      }
    }
  }
  expect("tasks of a loop in a cancelled taskgroup", ran, 0);
  expect("the loop's own sum", counted, 64);
  counted = 0;
#pragma omp parallel
#pragma omp taskgroup
  {
#pragma omp for schedule(static) reduction(task, + : counted)
    for (int i = 0; i < 64; ++i) {
      counted += 1;
#pragma omp task in_reduction(+ : counted)
      {
#pragma omp cancel taskgroup
        counted += 1;
      }
    }
#pragma omp task shared(after)
    {
#pragma omp atomic
      after += 1;
    }
  }
  expect("the sum of a loop whose tasks cancel", counted, 64);
  expect("tasks after a loop whose tasks cancel", after, 0);
}

int main(void) {
  expect("OMP_CANCELLATION", omp_get_cancellation(), 1);
  for (int round = 0; round < 2; ++round) cancellation(), cancelled_taskgroup_has_a_loop_that_reduces_tasks();
  if (!wrong) puts("ok");
  return wrong;
}
