#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/bits.h"
#include "../common/memory.h"
#include "barnes_hut.h"

static const double pi = 3.14159265358979323846;
static const char* const columns[COLUMNS] = {"x", "y", "z", "vx", "vy", "vz", "m"};

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const option options[] = {
    {"--size", "N", "bodies of a Plummer sphere (default 16384)", OPTION_NUMBER, offsetof(bh, size)},
    {"--input", "FILE.npy", "start from these bodies: N rows of x y z vx vy vz m, doubles", OPTION_TEXT,
     offsetof(bh, input)},
    {"--steps", "T", "time steps, counted from the start of the simulation (default 10)", OPTION_NUMBER,
     offsetof(bh, steps)},
    {"--dt", "DT", "time of a step (default 0.025; G = M = 1)", OPTION_REAL, offsetof(bh, dt)},
    {"--theta", "A", "side / distance from which on a cell is opened, 0 to 1 (default 0.5); 0: the direct sum",
     OPTION_REAL, offsetof(bh, theta)},
    {"--softening", "EPS", "a = sum of m d / (d^2 + EPS^2)^1.5 (default 0.05)", OPTION_REAL, offsetof(bh, softening)},
    {"--bodysort", "K", "renumber the bodies in the order of the tree every K steps (default 1); 0: never",
     OPTION_COUNT, offsetof(bh, bodysort)},
    {"--seed", "K", "of the Plummer sphere (default 1)", OPTION_COUNT, offsetof(bh, seed)},
    {"--verify", NULL,
     "compare forces with the direct sum, and the energy with that of the start; exit status 1 if "
     "they differ by more than the method allows",
     OPTION_FLAG, offsetof(bh, verify)},
    {"--output", "FILE.npy", "write the bodies at the end, for numpy.load and --input", OPTION_TEXT,
     offsetof(bh, output)},
    {"--volume", "DIR", "with --every: write snapshots into DIR/bodies.h5; ParaView opens DIR/bodies.xmf", OPTION_TEXT,
     offsetof(bh, volume_folder)},
    CHECKPOINT_OPTIONS(bh),
    RUN_OPTIONS(bh),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void help(const bh* b) {
  if (b->team.rank == 0) {
    printf(
        "%s: bodies that attract each other, by the method of Barnes and Hut\n\n"
        "One octree of all bodies; a cell of side s at distance d acts as one point if s/d < theta.\n\n",
        b->team.program);
    options_print(options, OPTIONS);
    printf(
        "\nTry\n"
        "  barnes_hut_omp --size 100000 --verify                                      on the cores of a machine\n"
        "  hirobarun -n 2 barnes_hut_sms --size 100000 --verify                       2 ranks\n"
        "  hirobarun -n 4 --nodes 2 barnes_hut_sms --size 65536 --bodysort 0          2 virtual nodes, without "
        "BodySort\n"
        "Threads per rank: hirobarun --threads T, or the environment variable OMP_NUM_THREADS.\n");
  }
  team_leave(&b->team);
  exit(0);
}

static void check_options(const bh* b) {
  const team* team = &b->team;
  team_agree(team, b->theta >= 0 && b->theta <= 1, TEAM_BAD_INPUT,
             "--theta %g is not from 0 to 1: beyond 1 the far end of a cell would be one point for a body inside it",
             b->theta);
  team_agree(team, b->softening > 0, TEAM_BAD_INPUT,
             "--softening %g is not greater than 0, without which two bodies that meet need steps of no length",
             b->softening);
  team_agree(team, b->dt > 0, TEAM_BAD_INPUT, "--dt %g is not greater than 0", b->dt);
  team_agree(team, team->count <= INT16_MAX / 2, TEAM_BAD_INPUT, "%d ranks are more than the %d that a cell can name",
             team->count, INT16_MAX / 2);
  team_agree(team, b->every == 0 || b->checkpoint != NULL || b->volume_folder != NULL, TEAM_BAD_INPUT,
             "--every needs --checkpoint FILE or --volume DIR");
  team_agree(team, b->volume_folder == NULL || b->every > 0, TEAM_BAD_INPUT, "--volume needs --every K");
  team_agree(team, b->input == NULL || b->restart == NULL, TEAM_BAD_INPUT,
             "--input and --restart both say where bodies are; leave out one of them");
  if (b->volume_folder != NULL) {
    volume_require(team, "--volume");
    files_check_folder(team, "--volume", b->volume_folder);
  }
  files_check_writable(team, "--checkpoint", b->checkpoint);
  files_check_writable(team, "--output", b->output);
}

/* ---- the Plummer sphere ------------------------------------------------------------------------------------------ */

/* Numbers from 0 to 1 that depend on the seed and the body only. */
typedef struct dice {
  uint64_t seed;
  int id, throws;
} dice;

static double throw_dice(dice* d) { return (noise_of(d->seed, d->id, d->throws++, 0) + 1) / 2; }

/* A vector of this length in any direction. */
static void any_direction(dice* d, double length, double out[3]) {
  double square;
  do {
    square = 0;
    for (int i = 0; i < 3; i++) out[i] = 2 * throw_dice(d) - 1, square += out[i] * out[i];
  } while (square > 1 || square == 0);
  for (int i = 0; i < 3; i++) out[i] *= length / sqrt(square);
}

/* Aarseth, Henon and Wielen 1974, in units with G = M = 1 and E = -1/4. */
static void plummer(const bh* b, int id, double record[COLUMNS]) {
  const double scale = 3 * pi / 16, most = 9;
  dice d = {(uint64_t)b->seed, id, 0};
  double r, q, g;
  do r = 1 / sqrt(pow(throw_dice(&d), -2.0 / 3) - 1);
  while (!(r < most));
  any_direction(&d, r * scale, record);
  do q = throw_dice(&d), g = throw_dice(&d) / 10;
  while (g > q * q * pow(1 - q * q, 3.5));
  any_direction(&d, q * sqrt(2) / pow(1 + r * r, 0.25) / sqrt(scale), record + 3);
  record[6] = 1.0 / b->size;
}

/* Makes the mean of positions and velocities 0. The sums are of whole numbers, so that they are exact and the same for
 * any number of ranks. */
static void centre(const bh* b, double* own) {
  const double unit = ldexp(1, -32);
  for (int c = 0; c < 6; c++) {
    int64_t sum = 0;
    for (int i = 0; i < b->last - b->first; i++) sum += llrint(own[(size_t)i * COLUMNS + c] / unit);
    const double mean = (double)(int64_t)team_sum_bits(&b->team, (uint64_t)sum) * unit / b->size;
    for (int i = 0; i < b->last - b->first; i++) own[(size_t)i * COLUMNS + c] -= mean;
  }
}

/* ---- bodies from a file ------------------------------------------------------------------------------------------ */

void bh_set_size(bh* b, const char* option, const char* file, int size) {
  team_agree(&b->team, b->size == 0 || b->size == size, TEAM_BAD_INPUT,
             "%s %s has %d bodies, --size has %d; leave out --size", option, file, size, b->size);
  b->size = size;
}

static void size_of_input(bh* b) {
  int64_t shape[2] = {0};
  off_t data;
  close(npy_open(&b->team, "--input", b->input, "<f8", shape, 2, &data));
  team_agree(&b->team, shape[1] == COLUMNS && shape[0] >= 1 && shape[0] <= options_limit(), TEAM_BAD_INPUT,
             "--input %s has shape (%lld, %lld), not (N, %d) for x y z vx vy vz m with N from 1 to %d", b->input,
             (long long)shape[0], (long long)shape[1], COLUMNS, options_limit());
  bh_set_size(b, "--input", b->input, (int)shape[0]);
}

static void read_input(const bh* b, double* own) {
  int64_t shape[2];
  off_t data;
  const int file = npy_open(&b->team, "--input", b->input, "<f8", shape, 2, &data);
  const size_t row = COLUMNS * sizeof(double), count = (size_t)(b->last - b->first);
  const bool good = files_read(file, own, count * row, data + (off_t)((size_t)b->first * row));
  team_agree(&b->team, good, TEAM_BAD_INPUT, "cannot read --input %s: %s", b->input, strerror(errno));
  close(file);
}

static void check_bodies(const bh* b, const double* own) {
  size_t bad = SIZE_MAX, weightless = SIZE_MAX;
  for (size_t i = (size_t)(b->last - b->first) * COLUMNS; i-- > 0;) {
    if (!isfinite(own[i])) bad = i;
    if (i % COLUMNS == 6 && !(own[i] > 0)) weightless = i;
  }
  const char* from = b->input != NULL ? b->input : b->restart != NULL ? b->restart : "the Plummer sphere";
  team_agree(&b->team, bad == SIZE_MAX, TEAM_BAD_INPUT, "%s: %s of body %zu is %g", from,
             bad == SIZE_MAX ? "" : columns[bad % COLUMNS], bad == SIZE_MAX ? 0 : (size_t)b->first + bad / COLUMNS,
             bad == SIZE_MAX ? 0 : own[bad]);
  team_agree(&b->team, weightless == SIZE_MAX, TEAM_BAD_INPUT, "%s: the mass of body %zu is %g, not greater than 0",
             from, weightless == SIZE_MAX ? 0 : (size_t)b->first + weightless / COLUMNS,
             weightless == SIZE_MAX ? 0 : own[weightless]);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

void bh_begin(bh* b, const char* program, team team, memory memory, int argc, char** argv) {
  *b = (bh){.team = team,
            .memory = memory,
            .steps = 10,
            .bodysort = 1,
            .seed = 1,
            .theta = 0.5,
            .softening = 0.05,
            .dt = 0.025,
            .threads = 1};
#ifdef _OPENMP
  b->threads = omp_get_max_threads();
#endif
  b->team.program = program;
  options_read(&b->team, options, OPTIONS, b, argc, argv);
  if (b->help) help(b);
  check_options(b);
  if (b->input != NULL) size_of_input(b);
  if (b->restart != NULL) record_open_restart(b);
  if (b->size == 0) b->size = 16384;
  const int piece = (b->size + team.count - 1) / team.count;
  b->first = smaller(team.rank * piece, b->size);
  b->last = smaller(b->first + piece, b->size);
  const double lists = 4 * sizeof(place); /* tree order, leaves, and bodies on their way into the tree */
  const double bytes = 2 * (sizeof(body) + sizeof(motion)) + sizeof(cell) / 8.0 + sizeof(leaf) / 6.0 + lists;
  memory_check(&b->team, bytes * b->size / team.count, "a tree of as many bodies");
  if (team.rank != 0 || b->json) return;
  printf("%s: %d bodies, %d rank%s x %d thread%s, theta %g, BodySort %s, about %.0f MiB\n", program, b->size,
         team.count, team.count == 1 ? "" : "s", b->threads, b->threads == 1 ? "" : "s", b->theta,
         b->bodysort > 0 ? "on" : "off", bytes * b->size / 1048576);
  fflush(stdout);
}

void bh_start(bh* b, double* records) {
  const int count = b->last - b->first;
  double* const own = records + (size_t)b->first * COLUMNS;
  b->records = records;
  if (b->restart != NULL) record_load_restart(b);
  else if (b->input != NULL) read_input(b, own);
  else {
    for (int i = 0; i < count; i++) plummer(b, b->first + i, own + (size_t)i * COLUMNS);
    centre(b, own);
  }
  check_bodies(b, own);
  area_reserve(b, &b->area, count);
  b->area.count = count;
  for (int i = 0; i < count; i++) {
    const double* r = own + (size_t)i * COLUMNS;
    b->area.bodies[i] = (body){r[0], r[1], r[2], r[6]};
    b->area.motions[i] = (motion){.v = {r[3], r[4], r[5]}, .id = b->first + i, .cost = 1};
  }
}
