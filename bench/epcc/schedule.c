/* What it costs to share a loop in chunks, whose size grows in powers of two. */
#include "epcc.h"

static void reference(const trial* t) {
  for (int k = 0; k < t->repetitions; k++)
    for (int i = 0; i < t->iterations; i++) spin(t->delay);
}

static void static_blocks(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp for schedule(static)
    for (int i = 0; i < t->iterations * t->threads; i++) spin(t->delay);
  }
}

static void static_chunks(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp for schedule(static, t->chunk)
    for (int i = 0; i < t->iterations * t->threads; i++) spin(t->delay);
  }
}

static void dynamic(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp for schedule(dynamic, t->chunk)
    for (int i = 0; i < t->iterations * t->threads; i++) spin(t->delay);
  }
}

static void guided(const trial* t) {
#pragma omp parallel
  for (int k = 0; k < t->repetitions; k++) {
#pragma omp for schedule(guided, t->chunk)
    for (int i = 0; i < t->iterations * t->threads; i++) spin(t->delay);
  }
}

const construct schedule_constructs[] = {
    {"STATIC", static_blocks, reference, NO_CHUNKS},
    {"STATIC", static_chunks, reference, UP_TO_ITERATIONS},
    {"DYNAMIC", dynamic, reference, UP_TO_ITERATIONS},
    {"GUIDED", guided, reference, UP_TO_SHARE},
    {0},
};
