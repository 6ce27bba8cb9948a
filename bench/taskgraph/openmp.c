/* OpenMP's tasks with `depend`: libgomp if gcc compiles it, libomp if clang does. */
#include <omp.h>

#include "taskgraph.h"

static void start(int threads) { omp_set_num_threads(threads); }

/* Dependences are written out for few reads, as a program has them; any number of them needs an iterator. */
static void create(const graph* g, int t) {
  const int* const in = &g->reads[g->first[t]];
  const int n = g->first[t + 1] - g->first[t], out = g->writes[t];
  switch (n) {
    case 0:
#pragma omp task depend(inout : g->value[out])
      task_run(g, t);
      break;
    case 1:
#pragma omp task depend(in : g->value[in[0]]) depend(inout : g -> value[out])
      task_run(g, t);
      break;
    case 2:
#pragma omp task depend(in : g->value[in[0]], g->value[in[1]]) depend(inout : g -> value[out])
      task_run(g, t);
      break;
    case 3:
#pragma omp task depend(in : g->value[in[0]], g->value[in[1]], g->value[in[2]]) depend(inout : g -> value[out])
      task_run(g, t);
      break;
    default:
#pragma omp task depend(iterator(int i = 0 : n), in : g->value[in[i]]) depend(inout : g -> value[out])
      task_run(g, t);
      break;
  }
}

static void run(const graph* g) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < g->tasks; t++) {
    if (g->free) {
#pragma omp task
      task_run(g, t);
    } else {
      create(g, t);
    }
  }
}

int main(int argc, char** argv) {
  const runtime openmp = {.name = "openmp", .team = {.count = 1, .program = "openmp"}, .start = start, .run = run};
  return taskgraph(argc, argv, &openmp);
}
