/* Hiroba's tasks (task.h), which find their dependences from the data that they name. On one rank that is the memory of
 * the graph. On several, cells lie in shared memory, a block of columns on each rank, which runs the tasks that write
 * them; what goes between ranks is a whole cell, whatever --bytes says. To replay is to run a recorded iteration as
 * often as it fits into the graph: two steps of a stencil; all of a graph that does not repeat. */
#include <sms.h>
#include <stdlib.h>
#include <string.h>
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

static void run_one(void* argument) { task_run(&shared, *(const int*)argument); }

/* Calls body(t), with the data that task `named` names. */
static void create_task(const graph* g, void (*body)(void* argument), int t, int named) {
  hiroba_access use[1 + (g->width > 0 ? g->width : 2)];
  int n = 0;
  if (!g->free) {
    use[n++] = hiroba_use(g->updates ? HIROBA_INOUT : HIROBA_OUT, &g->value[g->writes[named]], sizeof(cell));
    for (int k = g->first[named]; k < g->first[named + 1]; k++)
      use[n++] = hiroba_use(HIROBA_IN, &g->value[g->reads[k]], sizeof(cell));
  }
  hiroba_task_copy_at(body, &t, sizeof t, use, n, HIROBA_SPEC("task", HIROBA_ANYWHERE, 0));
}

static void set_bodies(const graph* g) {
  shared.spin = g->spin, shared.stream = g->stream, shared.scratch = g->scratch;
}

static void run_all(const graph* g) {
  set_bodies(g);
  copy_mine(shared.value, g->value);
  for (int t = 0; t < g->tasks; t++) create_task(&shared, run_one, t, t);
  hiroba_taskwait();
  copy_mine(g->value, shared.value);
}

/* ---- a graph that is recorded ------------------------------------------------------------------------------------ */

static hiroba_graph* recorded;
static int period; /* the tasks of an iteration */

/* Of each task of an iteration, its number in the graph when it runs next: not in its argument, which must mean the
 * same in all iterations. A cache line each, because different threads write them. */
typedef struct turn {
  _Alignas(64) int next;
} turn;
static turn* turns;

static void run_turn(void* argument) {
  turn* const mine = &turns[*(const int*)argument];
  task_run(&shared, mine->next);
  mine->next += period;
  if (mine->next >= shared.tasks) mine->next -= shared.tasks;
}

static bool name_the_same(const graph* g, int t, int other) {
  const int* const reads = &g->reads[g->first[t]];
  const int* const others = &g->reads[g->first[other]];
  const int count = g->first[t + 1] - g->first[t];
  if (g->writes[t] != g->writes[other] || count != g->first[other + 1] - g->first[other]) return false;
  return count == 0 || memcmp(reads, others, (size_t)count * sizeof *reads) == 0;
}

/* The fewest tasks after which a pattern names the same data again, its first step excepted, which reads nothing. All,
 * if it never does. */
static int find_period(const graph* g) {
  for (int tasks = 2 * g->width; tasks > 0 && tasks <= g->tasks / 2; tasks += 2 * g->width) {
    int t = g->width;
    while (t + tasks < g->tasks && name_the_same(g, t, t + tasks)) t++;
    if (t + tasks == g->tasks && g->tasks % tasks == 0) return tasks;
  }
  return g->tasks;
}

/* An iteration. The tasks of the first step name what those of its like name later: they are recorded as one. */
static void create_iteration(void* unused) {
  (void)unused;
  for (int t = 0; t < period; t++) {
    const bool repeats = t < shared.width && period < shared.tasks;
    create_task(&shared, run_turn, t, repeats ? t + period : t);
  }
}

static void record(const graph* g) {
  prepare(g);
  period = find_period(g);
  turns = aligned_alloc(_Alignof(turn), (size_t)period * sizeof *turns);
  team_agree(&us, turns != NULL, TEAM_WRONG, "not enough memory for --replay; use fewer steps");
  for (int t = 0; t < period; t++) turns[t].next = t;
  recorded = hiroba_graph_create(create_iteration, NULL, HIROBA_TASK_PLACE);
}

static void replay(const graph* g) {
  void* failure = NULL;
  set_bodies(g);
  copy_mine(shared.value, g->value);
  hiroba_graph_run(recorded, g->tasks / period, HIROBA_TASK_PLACE, &failure);
  copy_mine(g->value, shared.value);
}

static void release(const graph* g) {
  (void)g;
  if (recorded != NULL) hiroba_graph_free(recorded);
  free(turns);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  us = shared_team();
  us.program = "hiroba";
  const runtime hiroba = {.name = "hiroba",
                          .team = us,
                          .prepare = prepare,
                          .run = run_all,
                          .record = record,
                          .replay = replay,
                          .release = release,
                          .patterns_only = us.count > 1,
                          .owns = owns};
  return taskgraph(argc, argv, &hiroba);
}
