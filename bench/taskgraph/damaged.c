/* A runtime that is wrong, to see that the check finds it: it runs the tasks backwards, or leaves out the last one. */
#include <stdlib.h>

#include "taskgraph.h"

static void run(const graph* g) {
  const bool backwards = getenv("BACKWARDS") != NULL;
  for (int t = 0; t < g->tasks - !backwards; t++) task_run(g, backwards ? g->tasks - 1 - t : t);
}

int main(int argc, char** argv) {
  const runtime damaged = {.name = "damaged", .team = {.count = 1, .program = "damaged"}, .run = run};
  return taskgraph(argc, argv, &damaged);
}
