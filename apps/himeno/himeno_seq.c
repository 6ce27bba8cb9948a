/* The Himeno benchmark in one process. */
#include <stdlib.h>

#include "kernel.h"

int main(int argc, char** argv) {
  himeno h;
  double gosa = 0;
  himeno_begin(&h, (team){.count = 1, .program = "himeno_seq"}, argc, argv);
  block b = block_begin(&h, 0, h.rows);
  run_start(&h.run, &h.team, 0, h.steps);
  for (int step = 0; step < h.steps; step++) gosa = block_step(&h, &b);
  run_stop(&h.run);
  const uint64_t bits = block_bits(&h, &b);
  free(b.memory);
  return himeno_finish(&h, gosa, bits);
}
