/* What it costs to make tasks. Where one thread makes all, it makes as many as all threads would. */
#include <omp.h>
#include <stdbool.h>

#include "epcc.h"

enum { DEPTH = 6 }; /* of trees of tasks */

static void parallel_task(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp task
    spin(t->delay);
  }
}

static void master_task(const trial* t) {
#pragma omp parallel
#pragma omp master
  for (int k = 0; k < t->repetitions * t->threads; k++) {
#pragma omp task
    spin(t->delay);
  }
}

static void master_task_busy(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
    if (omp_get_thread_num() == 0) {
#pragma omp task
      spin(t->delay);
    } else {
      spin(t->delay);
    }
  }
}

/* The compiler does not know that it is false. */
static bool is_false(void) {
  bool no = false;
  __asm__ volatile("" : "+r"(no));
  return no;
}

static void conditional_task(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp task if (is_false())
    spin(t->delay);
  }
}

static void task_wait(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp task
    spin(t->delay);
#pragma omp taskwait
  }
}

static void task_barrier(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp task
    spin(t->delay);
#pragma omp barrier
  }
}

/* A task that makes a task for each thread, and waits for them. */
static void family(const trial* t) {
  for (int i = 0; i < t->threads; i++) {
#pragma omp task untied
    spin(t->delay);
  }
#pragma omp taskwait
}

static void nested_task(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions / t->threads; k++) {
#pragma omp task
    family(t);
  }
}

static void nested_master_task(const trial* t) {
#pragma omp parallel
#pragma omp master
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp task
    family(t);
  }
}

static void branches(const trial* t, int level) {
  if (level == 0) return;
#pragma omp task
  {
    branches(t, level - 1);
    branches(t, level - 1);
    spin(t->delay);
  }
}

static void leaves(const trial* t, int level) {
  if (level == 0) {
    spin(t->delay);
    return;
  }
#pragma omp task
  {
    leaves(t, level - 1);
    leaves(t, level - 1);
  }
}

static void reference_tree(const trial* t) {
  for (int k = 0; k < (t->repetitions >> DEPTH) << DEPTH; k++) spin(t->delay);
}

static void branch_tree(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions >> DEPTH; k++) branches(t, DEPTH);
}

static void leaf_tree(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions >> DEPTH; k++) leaves(t, DEPTH);
}

const construct task_constructs[] = {
    {"PARALLEL TASK", parallel_task, reference_delay, NO_CHUNKS},
    {"MASTER TASK", master_task, reference_delay, NO_CHUNKS},
    {"MASTER TASK BUSY SLAVES", master_task_busy, reference_delay, NO_CHUNKS},
    {"CONDITIONAL TASK", conditional_task, reference_delay, NO_CHUNKS},
    {"TASK WAIT", task_wait, reference_delay, NO_CHUNKS},
    {"TASK BARRIER", task_barrier, reference_delay, NO_CHUNKS},
    {"NESTED TASK", nested_task, reference_delay, NO_CHUNKS},
    {"NESTED MASTER TASK", nested_master_task, reference_delay, NO_CHUNKS},
    {"BRANCH TASK TREE", branch_tree, reference_tree, NO_CHUNKS},
    {"LEAF TASK TREE", leaf_tree, reference_tree, NO_CHUNKS},
    {0},
};
