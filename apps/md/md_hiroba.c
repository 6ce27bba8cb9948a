/* Molecular dynamics with cells, on shared memory over any number of ranks: the ranks are parts that share the
 * layers. */
#include "../common/shared.h"
#include "md.h"

static void steps(void* of, int from, int to) {
  md* const m = of;
  const parts ranks = shared_parts();
  m->fault = larger(m->fault, md_part_steps(m, &ranks, sms_rank, from, to, m->energy));
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  md m;
  team ranks = shared_team();
  ranks.program = "md_hiroba";
  md_begin(&m, ranks, 1, argc, argv);
  char* const memory = shared_rows(&ranks, m.cells, (int64_t)m.layer_bytes, 1, ranks.program);
  sms_promise_preload(memory);
  for (int z = 0; z < m.cells; z++) m.layers[z] = md_layer(&m, memory + (size_t)z * m.layer_bytes);
  for (int z = m.first; z < m.end; z++) md_fill(&m, z);
  return md_run(&m, steps);
}
