/* StarPU: tasks on registered data, whose dependences it finds by itself. */
#include <starpu.h>
#include <stdlib.h>
#include <string.h>

#include "taskgraph.h"

/* What lives as long as the runtime, and the handles as long as the graph. */
static starpu_data_handle_t* handles;

static void stop(void) { starpu_shutdown(); }

static void start(int threads) {
  struct starpu_conf settings;
  starpu_conf_init(&settings);
  settings.ncpus = threads;
  settings.ncuda = settings.nopencl = 0;
  if (starpu_init(&settings) != 0) {
    fprintf(stderr, "starpu: it does not start\n");
    exit(TEAM_WRONG);
  }
}

static void prepare(const graph* g) {
  if (g->free) return;
  handles = calloc((size_t)g->cells, sizeof(starpu_data_handle_t));
  for (int c = 0; c < g->cells; c++)
    starpu_variable_data_register(&handles[c], STARPU_MAIN_RAM, (uintptr_t)&g->value[c], sizeof g->value[c].value);
}

static void release(const graph* g) {
  if (g->free) return;
  for (int c = 0; c < g->cells; c++) starpu_data_unregister(handles[c]);
  free(handles);
}

typedef struct argument {
  const graph* g;
  int task;
} argument;

static void body(void* buffers[], void* arg) {
  (void)buffers;
  const argument* const a = arg;
  task_run(a->g, a->task);
}

static struct starpu_codelet codelet = {.cpu_funcs = {body}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "task"};

static void name_data(struct starpu_task* task, const graph* g, int t) {
  const int reads = g->first[t + 1] - g->first[t];
  task->nbuffers = reads + 1;
  starpu_data_handle_t* handle = task->handles;
  enum starpu_data_access_mode* mode = task->modes;
  if (task->nbuffers > STARPU_NMAXBUFS) { /* StarPU frees these */
    handle = task->dyn_handles = malloc((size_t)task->nbuffers * sizeof *handle);
    mode = task->dyn_modes = malloc((size_t)task->nbuffers * sizeof *mode);
  }
  for (int k = 0; k < reads; k++) handle[k] = handles[g->reads[g->first[t] + k]], mode[k] = STARPU_R;
  handle[reads] = handles[g->writes[t]], mode[reads] = STARPU_RW;
}

static void run(const graph* g) {
  argument* const arguments = malloc((size_t)g->tasks * sizeof *arguments);
  for (int t = 0; t < g->tasks; t++) {
    struct starpu_task* const task = starpu_task_create();
    arguments[t] = (argument){g, t};
    task->cl = &codelet;
    task->cl_arg = &arguments[t];
    if (!g->free) name_data(task, g, t);
    if (starpu_task_submit(task) != 0) {
      fprintf(stderr, "starpu: it refuses a task\n");
      exit(TEAM_WRONG);
    }
  }
  starpu_task_wait_for_all();
  free(arguments);
}

int main(int argc, char** argv) {
  const runtime starpu = {.name = "starpu",
                          .team = {.count = 1, .program = "starpu"},
                          .start = start,
                          .prepare = prepare,
                          .run = run,
                          .release = release,
                          .stop = stop};
  return taskgraph(argc, argv, &starpu);
}
