/* Hiroba's tasks (task.h), which find their dependences from the data that they name. On one rank that is the memory of
 * the graph. On several, cells lie in shared memory, a block of columns on each rank, which runs the tasks that write
 * them; what goes between ranks is a whole cell, whatever --bytes says. */
#include <sms.h>
#include <task.h>

#include "../../apps/common/shared.h"
#include "taskgraph.h"

static team us;
static graph shared; /* the graph over shared cells; of one rank, the graph as it is */

/* The homes that sms_mapalloc gives the columns. */
static bool owns(const graph* g, int cell) {
  if (us.count == 1) return true;
  const int parts = smaller(us.count, g->width), each = (g->width + parts - 1) / parts;
  return cell % g->width / each == us.rank;
}

static void prepare(const graph* g) {
  shared = *g;
  if (us.count == 1) return;
  const int dim[] = {g->cells / g->width, g->width, -1}, div[] = {1, smaller(us.count, g->width), -1};
  shared.value = sms_mapalloc(dim, div, sizeof(cell), 0, us.count);
}

/* The answer is taken from the graph, which every rank has. */
static void copy_mine(cell* to, const cell* from) {
  for (int i = 0; us.count > 1 && i < shared.cells; i++)
    if (owns(&shared, i)) to[i] = from[i];
}

static void run_one(void* t) { task_run(&shared, *(int*)t); }

static void run_all(const graph* g) {
  shared.spin = g->spin, shared.stream = g->stream, shared.scratch = g->scratch;
  copy_mine(shared.value, g->value);
  const hiroba_task_spec* const spec = HIROBA_SPEC("task", HIROBA_ANYWHERE, 0);
  hiroba_access use[1 + (g->width > 0 ? g->width : 2)];
  for (int t = 0; t < g->tasks; t++) {
    int n = 0;
    if (!g->free) {
      use[n++] = hiroba_use(g->updates ? HIROBA_INOUT : HIROBA_OUT, &shared.value[g->writes[t]], sizeof(cell));
      for (int k = g->first[t]; k < g->first[t + 1]; k++)
        use[n++] = hiroba_use(HIROBA_IN, &shared.value[g->reads[k]], sizeof(cell));
    }
    hiroba_task_copy_at(run_one, &t, sizeof t, use, n, spec);
  }
  hiroba_taskwait();
  copy_mine(g->value, shared.value);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  us = shared_team();
  us.program = "hiroba";
  const runtime hiroba = {
      .name = "hiroba", .team = us, .prepare = prepare, .run = run_all, .patterns_only = us.count > 1, .owns = owns};
  return taskgraph(argc, argv, &hiroba);
}
