/* What it costs to start, to share a loop, to wait for all, and to exclude others. */
#include <omp.h>

#include "epcc.h"

static void parallel(const trial* t) {
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp parallel
    spin(t->delay);
  }
}

static void loop(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp for
    for (int i = 0; i < t->threads; i++) spin(t->delay);
  }
}

static void parallel_loop(const trial* t) {
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp parallel for
    for (int i = 0; i < t->threads; i++) spin(t->delay);
  }
}

static void barrier(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
    spin(t->delay);
#pragma omp barrier
  }
}

static void single(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp single
    spin(t->delay);
  }
}

/* Bodies that exclude each other: all threads together have as many as the reference. */
static void critical(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions / t->threads; k++) {
#pragma omp critical
    spin(t->delay);
  }
}

static void lock(const trial* t) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  for (int k = 0; k < t->repetitions / t->threads; k++) {
    omp_set_lock(&lock);
    spin(t->delay);
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

static void ordered(const trial* t) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp ordered
    spin(t->delay);
  }
}

/* What is added changes each time, so that no compiler adds everything at once. */
static const double FACTOR = 1 + 1e-15;

/* The compiler has to believe that the sum is wanted. */
static void keep(double* sum) { __asm__ volatile("" : "+m"(*sum)); }

static void reference_add(const trial* t) {
  double sum = 0, term = 1;
  for (int k = 0; k < t->repetitions; k++) {
    sum += term;
    term *= FACTOR;
  }
  keep(&sum);
}

static void atomic(const trial* t) {
  double sum = 0, term = 1;
#pragma omp parallel firstprivate(term)
  for (int k = 0; k < t->repetitions / t->threads; k++) {
#pragma omp atomic
    sum += term;
    term *= FACTOR;
  }
  keep(&sum);
}

static void reference_reduction(const trial* t) {
  double sum = 0;
  for (int k = 0; k < t->repetitions; k++) {
    spin(t->delay);
    sum += 1;
    keep(&sum);
  }
}

static void reduction(const trial* t) {
  double sum = 0;
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp parallel reduction(+ : sum)
    {
      spin(t->delay);
      sum += 1;
    }
    keep(&sum);
  }
}

const construct sync_constructs[] = {
    {"PARALLEL", parallel, reference_delay, NO_CHUNKS},
    {"FOR", loop, reference_delay, NO_CHUNKS},
    {"PARALLEL FOR", parallel_loop, reference_delay, NO_CHUNKS},
    {"BARRIER", barrier, reference_delay, NO_CHUNKS},
    {"SINGLE", single, reference_delay, NO_CHUNKS},
    {"CRITICAL", critical, reference_delay, NO_CHUNKS},
    {"LOCK/UNLOCK", lock, reference_delay, NO_CHUNKS},
    {"ORDERED", ordered, reference_delay, NO_CHUNKS},
    {"ATOMIC", atomic, reference_add, NO_CHUNKS},
    {"REDUCTION", reduction, reference_reduction, NO_CHUNKS},
    {0},
};
