/* A tree is searched, in one thread. */
#include "workqueue.h"

static void steps(void* of, int from, int to) {
  workqueue* const w = of;
  const node root = tree_root(&w->tree);
  stack own = {NULL, 0, 0, 0};
  for (int step = from; step < to; step++) {
    const double clock = team_now();
    w->found = (tree_count){0};
    stack_push(&own, &root, 1);
    while (stack_size(&own) > 0) stack_visit(&own, &w->tree, WORK_LOOK, &w->found);
    split_add(&w->run.split, 0, WORK_VISIT, clock);
  }
  stack_close(&own);
}

int main(int argc, char** argv) {
  workqueue w;
  workqueue_begin(&w, (team){.count = 1, .program = "workqueue_serial"}, 1, argc, argv);
  return workqueue_run(&w, steps);
}
