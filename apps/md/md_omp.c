/* Molecular dynamics with cells, with OpenMP: the threads are parts that share the layers. */
#include <omp.h>
#include <stdlib.h>

#include "md.h"

static void steps(void* of, int from, int to) {
  md* const m = of;
  const parts threads = parts_threads(m->run.threads);
  const size_t numbers = 2 * ((size_t)m->run.steps + 1);
#pragma omp parallel num_threads(threads.count)
  {
    double* const energy = calloc(numbers, sizeof *energy);
    if (energy == NULL) abort();
    const int fault = md_part_steps(m, &threads, omp_get_thread_num(), from, to, energy);
#pragma omp critical
    {
      m->fault = larger(m->fault, fault);
      for (size_t i = 0; i < numbers; i++) m->energy[i] += energy[i];
    }
    free(energy);
  }
}

int main(int argc, char** argv) {
  md m;
  md_begin(&m, (team){.count = 1, .program = "md_omp"}, omp_get_max_threads(), argc, argv);
  char* const memory = md_memory(&m, m.cells);
  const int share = md_share(&m, m.run.threads);
#pragma omp parallel for schedule(static, share)
  for (int z = 0; z < m.cells; z++) {
    m.layers[z] = md_layer(&m, memory + (size_t)z * m.layer_bytes);
    md_fill(&m, z);
  }
  const int status = md_run(&m, steps);
  free(memory);
  return status;
}
