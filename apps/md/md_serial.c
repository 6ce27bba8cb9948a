/* Molecular dynamics with cells, in one thread. */
#include <stdlib.h>

#include "md.h"

static void nobody(void) {}

static void steps(void* of, int from, int to) {
  md* const m = of;
  const parts alone = {1, nobody, NULL};
  m->fault = larger(m->fault, md_part_steps(m, &alone, 0, from, to, m->energy));
}

int main(int argc, char** argv) {
  md m;
  md_begin(&m, (team){.count = 1, .program = "md_serial"}, 1, argc, argv);
  char* const memory = md_memory(&m, m.cells);
  for (int z = 0; z < m.cells; z++) {
    m.layers[z] = md_layer(&m, memory + (size_t)z * m.layer_bytes);
    md_fill(&m, z);
  }
  const int status = md_run(&m, steps);
  free(memory);
  return status;
}
