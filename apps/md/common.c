/* What the variants of md share: options, start, check, report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bits.h"
#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"
#include "check.h"

/* A liquid near its triple point, started as a crystal. In units of the potential. */
static const double density = 0.8442, temperature = 1.44;

enum { PAGE = 4096, CORNERS = 4, SMALLEST = 5 };

static const option options[] = {
    {"--size", "M", "cubes of the crystal in each dimension, of 4 particles each (default 8)", OPTION_NUMBER,
     offsetof(md, run) + offsetof(tiled, size)},
    {"--dt", "TIME", "of a step (default 0.004)", OPTION_REAL, offsetof(md, step)},
    {"--seed", "K", "of the velocities (default 12345)", OPTION_COUNT, offsetof(md, seed)},
    TILED_OPTIONS(md, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const md* m) {
  printf(
      "%s: molecular dynamics of Lennard-Jones particles in a periodic cube, with cells\n\n"
      "--verify checks that energy is kept within 1e-3 (dt / 0.004)^2 of a particle, momentum to rounding, and each\n"
      "particle in its cell; of up to %d particles, it repeats a run of steps x dt <= %g by plain loops over all\n"
      "pairs, and places agree to 1e-10. After longer runs they need not: rounding errors grow by 10 in a time of "
      "0.7.\n\n",
      m->run.team.program, MD_REPEATED, MD_COMPARED);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  md_serial --size 8 --verify\n"
      "  OMP_NUM_THREADS=2 md_omp --size 20 --verify\n"
      "  mpirun -n 2 md_mpi --size 20 --verify\n"
      "  hirobarun -n 2 --nodes 2 md_hiroba --size 20 --verify\n");
}

/* ---- the start --------------------------------------------------------------------------------------------------- */

void md_start(const md* m, int i, double x[3], double v[3]) {
  static const double corner[CORNERS][3] = {{0.25, 0.25, 0.25},
                                            {0.75, 0.75, 0.25},
                                            {0.75, 0.25, 0.75},
                                            {0.25, 0.75, 0.75}};
  const int size = m->run.size, cube = i / CORNERS, at[3] = {cube % size, cube / size % size, cube / size / size};
  for (int d = 0; d < 3; d++) {
    x[d] = (at[d] + corner[i % CORNERS][d]) * (m->extent / size);
    v[d] = (noise_of((uint64_t)m->seed, i, d, 0) - m->mean[d]) * m->scale;
  }
}

static void set_velocities(md* m) {
  double square = 0;
  m->scale = 1;
  for (int d = 0; d < 3; d++) {
    double sum = 0;
    for (int i = 0; i < m->particles; i++) sum += noise_of((uint64_t)m->seed, i, d, 0);
    m->mean[d] = sum / m->particles;
  }
  for (int i = 0; i < m->particles; i++) {
    double x[3], v[3];
    md_start(m, i, x, v);
    square += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  }
  m->scale = sqrt(3 * temperature * m->particles / square);
}

static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static void set_cells(md* m) {
  m->particles = CORNERS * m->run.size * m->run.size * m->run.size;
  m->extent = cbrt(m->particles / density);
  m->cells = (int)(m->extent / MD_RANGE);
  m->edge = m->extent / m->cells;
  const size_t cells = (size_t)m->cells * (size_t)m->cells;
  m->box_room = (int)(2 * cells + 16); /* in a step of 0.004 some hundredths of a cell's particles leave it */
  m->force_bytes = pages(3 * MD_ROOM * cells * sizeof(double));
  m->place_bytes = pages(3 * MD_ROOM * cells * sizeof(double) + cells * sizeof(int));
  m->box_bytes = pages(sizeof(box) + (size_t)m->box_room * sizeof(traveller));
  m->layer_bytes = m->place_bytes + 3 * m->force_bytes + MD_BOXES * m->box_bytes + pages(MD_ROOM * cells * sizeof(int));
}

int md_share(const md* m, int parts) { return (m->cells - 1) / parts + 1; }

void md_begin(md* m, team team, int threads, int argc, char** argv) {
  enum { MOST = 400 };
  memset(m, 0, sizeof *m);
  m->run.team = team;
  m->run.threads = threads;
  m->run.size = 8;
  m->run.steps = 100;
  m->step = 0.004;
  m->seed = 12345;
  options_read(&team, options, OPTIONS, m, argc, argv);
  if (m->run.help) {
    if (team.rank == 0) print_help(m);
    team_leave(&team);
    exit(0);
  }
  team_agree(&team, m->run.size >= SMALLEST && m->run.size <= MOST, TEAM_BAD_INPUT,
             "--size %d is not from %d (three cells) to %d", m->run.size, SMALLEST, MOST);
  team_agree(&team, m->step > 0, TEAM_BAD_INPUT, "--dt %g is not more than 0", m->step);
  if (m->run.json != NULL && strcmp(m->run.json, "-") != 0) files_check_writable(&team, "--json", m->run.json);
  set_cells(m);
  memory_check(&team, (double)m->layer_bytes * m->cells / team.count, team.program);
  set_velocities(m);
  m->first = (int)parts_first(m->cells, md_share(m, team.count), team.rank);
  m->end = (int)parts_first(m->cells, md_share(m, team.count), team.rank + 1);
  m->layers = calloc((size_t)m->cells, sizeof *m->layers);
  m->energy = calloc(2 * ((size_t)m->run.steps + 1), sizeof *m->energy);
  team_agree(&team, m->layers != NULL && m->energy != NULL, TEAM_BAD_INPUT, "no memory for %d steps", m->run.steps);
  m->run.run.unit = "particle";
  m->run.run.work = m->particles;
}

void* md_memory(const md* m, int layers) {
  void* const memory = memory_pages(m->layer_bytes * (size_t)layers);
  team_agree(&m->run.team, memory != NULL, TEAM_BAD_INPUT, "no memory for %d particles; use a smaller --size",
             m->particles);
  return memory;
}

layer md_layer(const md* m, void* memory) {
  char* at = memory;
  layer l;
  l.x = (double*)at;
  l.count = (int*)(at + 3 * MD_ROOM * (size_t)m->cells * (size_t)m->cells * sizeof(double));
  at += m->place_bytes;
  double** const arrays[] = {&l.up, &l.v, &l.f};
  for (int i = 0; i < 3; i++) {
    *arrays[i] = (double*)at;
    at += m->force_bytes;
  }
  for (int b = 0; b < MD_BOXES; b++) {
    l.leaving[b] = (box*)at;
    at += m->box_bytes;
  }
  l.id = (int*)at;
  return l;
}

void md_fill(md* m, int z) {
  layer* const l = &m->layers[z];
  const size_t numbers = 3 * MD_ROOM * (size_t)m->cells * (size_t)m->cells;
  memset(l->x, 0, m->layer_bytes);
  for (size_t k = 0; k < numbers; k++) l->x[k] = MD_FAR_AWAY;
  for (int i = 0; i < m->particles; i++) {
    double x[3], v[3];
    int at[3];
    md_start(m, i, x, v);
    for (int d = 0; d < 3; d++) at[d] = smaller((int)(x[d] / m->edge), m->cells - 1);
    if (at[2] != z) continue;
    const size_t cell = (size_t)at[1] * (size_t)m->cells + (size_t)at[0], place = (size_t)l->count[cell]++;
    for (size_t d = 0; d < 3; d++) {
      l->x[(3 * cell + d) * MD_ROOM + place] = x[d];
      l->v[(3 * cell + d) * MD_ROOM + place] = v[d];
    }
    l->id[cell * MD_ROOM + place] = i;
  }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* A sum over the places and velocities of all particles, wherever they are. */
static uint64_t bits(const md* m) {
  uint64_t sum = 0;
  const size_t cells = (size_t)m->cells * (size_t)m->cells;
  for (int z = m->first; z < m->end; z++)
    for (size_t cell = 0; cell < cells; cell++)
      for (size_t d = 0; d < 3; d++)
        for (int i = 0; i < m->layers[z].count[cell]; i++) {
          const size_t at = (3 * cell + d) * MD_ROOM + (size_t)i;
          const uint64_t number = 6 * (uint64_t)m->layers[z].id[cell * MD_ROOM + (size_t)i] + d;
          sum += bits_of(number, &m->layers[z].x[at], sizeof(double));
          sum += bits_of(number + 3, &m->layers[z].v[at], sizeof(double));
        }
  return team_sum_bits(&m->run.team, sum);
}

int md_run(md* m, tiled_steps steps) {
  static const char* const categories[] = {"move", "force", "comm", NULL};
  static const char* const faults[] = {"", "a particle has passed a whole cell in a step; use a smaller --dt",
                                       "a cell has more particles than its room; use a smaller --dt",
                                       "too many particles leave their cells in a step; use a smaller --dt"};
  const bool done = tiled_run(&m->run, categories, steps, m);
  const int fault = (int)team_max(&m->run.team, m->fault);
  team_agree(&m->run.team, fault == 0, TEAM_BAD_INPUT, "%s", faults[fault]);
  tiled_answer answer = {.limit = 1, .name = "largest error, as part of its limit"};
  tiled_figure found[MD_FIGURES] = {{NULL, 0}};
  if (done) answer.bits = bits(m);
  if (done && m->run.verify) answer.error = md_check(m, found);
  answer.more = found;
  free(m->layers);
  free(m->energy);
  return done ? tiled_finish(&m->run, &answer) : tiled_stopped(&m->run);
}
