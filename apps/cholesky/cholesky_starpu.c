/* Cholesky with the tasks of StarPU: a rival. Tiles are registered with it, and tasks name those that they use. */
#include <omp.h>
#include <starpu.h>
#include <stdlib.h>

#include "cholesky.h"

typedef struct task {
  cholesky* c;
  int i, j, k;
} task;

static task task_of(void* arguments) {
  task t;
  starpu_codelet_unpack_args(arguments, &t);
  return t;
}

static const double* numbers(void* buffer) { return (const double*)STARPU_MATRIX_GET_PTR(buffer); }

static void potrf(void* buffers[], void* arguments) {
  (void)buffers;
  const task t = task_of(arguments);
  cholesky_potrf(t.c, t.k);
}

static void trsm(void* buffers[], void* arguments) {
  const task t = task_of(arguments);
  cholesky_trsm(t.c, t.i, t.k, numbers(buffers[0]));
}

static void syrk(void* buffers[], void* arguments) {
  const task t = task_of(arguments);
  cholesky_update(t.c, t.i, t.i, t.k, numbers(buffers[0]), numbers(buffers[0]));
}

static void gemm(void* buffers[], void* arguments) {
  const task t = task_of(arguments);
  cholesky_update(t.c, t.i, t.j, t.k, numbers(buffers[0]), numbers(buffers[1]));
}

static struct starpu_codelet potrf_codelet = {.name = "potrf",
                                              .cpu_funcs = {potrf},
                                              .nbuffers = 1,
                                              .modes = {STARPU_RW}};
static struct starpu_codelet trsm_codelet = {.name = "trsm",
                                             .cpu_funcs = {trsm},
                                             .nbuffers = 2,
                                             .modes = {STARPU_R, STARPU_RW}};
static struct starpu_codelet syrk_codelet = {.name = "syrk",
                                             .cpu_funcs = {syrk},
                                             .nbuffers = 2,
                                             .modes = {STARPU_R, STARPU_RW}};
static struct starpu_codelet gemm_codelet = {.name = "gemm",
                                             .cpu_funcs = {gemm},
                                             .nbuffers = 3,
                                             .modes = {STARPU_R, STARPU_R, STARPU_RW}};

static starpu_data_handle_t handle(const cholesky* c, int i, int j) {
  const starpu_data_handle_t* handles = c->own;
  return handles[(size_t)i + (size_t)j * (size_t)c->tiles];
}

static void insert(cholesky* c, struct starpu_codelet* codelet, int i, int j, int k) {
  task t = {c, i, j, k};
  int status;
  if (codelet == &potrf_codelet)
    status = starpu_task_insert(codelet, STARPU_VALUE, &t, sizeof t, STARPU_RW, handle(c, k, k), 0);
  else if (codelet == &trsm_codelet)
    status = starpu_task_insert(codelet, STARPU_VALUE, &t, sizeof t, STARPU_R, handle(c, k, k), STARPU_RW,
                                handle(c, i, k), 0);
  else if (codelet == &syrk_codelet)
    status = starpu_task_insert(codelet, STARPU_VALUE, &t, sizeof t, STARPU_R, handle(c, i, k), STARPU_RW,
                                handle(c, i, i), 0);
  else
    status = starpu_task_insert(codelet, STARPU_VALUE, &t, sizeof t, STARPU_R, handle(c, i, k), STARPU_R,
                                handle(c, j, k), STARPU_RW, handle(c, i, j), 0);
  team_agree(&c->run.team, status == 0, TEAM_WRONG, "StarPU refuses a task: status %d", status);
}

static void factor(cholesky* c) {
  for (int k = 0; k < c->tiles; k++) {
    insert(c, &potrf_codelet, k, k, k);
    for (int i = k + 1; i < c->tiles; i++) insert(c, &trsm_codelet, i, k, k);
    for (int j = k + 1; j < c->tiles; j++)
      for (int i = j; i < c->tiles; i++) insert(c, i == j ? &syrk_codelet : &gemm_codelet, i, j, k);
  }
  starpu_task_wait_for_all();
}

static void register_tiles(cholesky* c) {
  cholesky_private(c);
  starpu_data_handle_t* const handles = calloc((size_t)c->tiles * (size_t)c->tiles, sizeof *handles);
  team_agree(&c->run.team, handles != NULL, TEAM_BAD_INPUT, "no memory for a list of tiles");
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++)
      starpu_matrix_data_register(&handles[(size_t)i + (size_t)j * (size_t)c->tiles], STARPU_MAIN_RAM,
                                  (uintptr_t)cholesky_tile(c, i, j), (uint32_t)cholesky_lead(c, i),
                                  (uint32_t)cholesky_extent(c, i), (uint32_t)cholesky_extent(c, j), sizeof(double));
  c->own = handles;
}

static void unregister_tiles(cholesky* c) {
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) starpu_data_unregister(handle(c, i, j));
  free(c->own);
}

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_starpu",
                                           .open = register_tiles,
                                           .close = unregister_tiles,
                                           .factor = factor,
                                           .thread = starpu_worker_get_id};
  cholesky c;
  cholesky_begin(&c, &program, (team){.count = 1}, argc, argv);
  struct starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = c.run.threads;
  const int status = starpu_init(&conf);
  team_agree(&c.run.team, status == 0, TEAM_BAD_INPUT, "StarPU does not start: status %d", status);
  c.run.team.leave = starpu_shutdown;
  const int workers = (int)starpu_cpu_worker_get_count();
  team_agree(&c.run.team, workers == c.run.threads, TEAM_BAD_INPUT,
             "StarPU starts %d threads on this machine, not the %d of OMP_NUM_THREADS", workers, c.run.threads);
  return cholesky_run(&c);
}
