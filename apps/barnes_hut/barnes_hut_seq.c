/* Barnes-Hut in one process: on one thread, or compiled with OpenMP on several. barnes_hut_sms.c and share.c share it
 * among ranks. */
#include <stdio.h>
#include <stdlib.h>

#include "barnes_hut.h"

static void* take(size_t bytes) {
  void* const memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
  if (memory != NULL) return memory;
  fputs(PROGRAM ": no memory for bodies and cells; use a smaller --size\n", stderr);
  exit(TEAM_BAD_INPUT);
}

static void build(bh* b) {
  const cube all = cube_of(b);
  double since = team_now();
  tree_begin(b, b->area.count);
  cell* const root = b->tree.root = tree_cell(b, all);
  for (int i = 0; i < b->area.count; i++) {
    body* const p = &b->area.bodies[i];
    const int o = octant_of(&all, p);
    tree_insert(b, (eighth){root, o}, octant(all, o), p, 0);
  }
  for (int d = 0; d < 4; d++) b->tree.sum[d] = 0;
  for (int k = 0, inside; k < 8; k++) {
    const eighth at = {root, curve_octant(START, k, &inside)};
    if (root->count[at.number] > 0) tree_finish(b, at, inside, b->tree.sum);
  }
  bh_phase(b, BUILD, &since);
  if (bh_sorts(b)) tree_sort(b);
  bh_phase(b, SORT, &since);
}

int main(int argc, char** argv) {
  bh b;
  bh_begin(&b, PROGRAM, (team){.count = 1}, (memory){.take = take, .give = free}, argc, argv);
  int node = 0;
  b.areas = &b.area;
  b.node = &node;
  double* const records = take((size_t)b.size * COLUMNS * sizeof(double));
  bh_start(&b, records);
  bh_run(&b, build);
  const int status = bh_finish(&b);
  free(records);
  return status;
}
