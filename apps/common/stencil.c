#include "stencil.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bits.h"
#include "checkpoint.h"
#include "files.h"
#include "memory.h"

static const double tolerance = 1e-13; /* of --verify; double precision leaves about 5e-15 */
static const double pi = 3.14159265358979323846;

enum { MOST_OPTIONS = 32, PAGE_POINTS = 4096 / sizeof(double), MOST_POINTS = INT_MAX / PAGE_POINTS * PAGE_POINTS };

static size_t pitch_bytes(const job* job) { return (size_t)job->plane_points * sizeof(double); }

static double points(const job* job) { return (double)job->nx * job->ny * job->nz; }

static bool is(const char* a, const char* b) { return strcmp(a, b) == 0; }

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const option options[] = {
    {"--size", "N or NX,NY,NZ", "points to compute in each direction, each >= 1 (default 64); x is contiguous",
     OPTION_SIZE, offsetof(job, size)},
    {"--steps", "T", "time steps, counted from the start of the simulation (default 100)", OPTION_NUMBER,
     offsetof(job, steps)},
    {"--start", "S", "mode: a sine mode, whose decay is known (default), or noise", OPTION_TEXT, offsetof(job, start)},
    {"--seed", "K", "of the noise (default 1)", OPTION_COUNT, offsetof(job, seed)},
    {"--verify", NULL, "compare with the exact solution; exit status 1 if it differs by more than 1e-13", OPTION_FLAG,
     offsetof(job, verify)},
    {"--output", "FILE.npy", "write the final field, boundary included, for numpy.load", OPTION_TEXT,
     offsetof(job, output)},
    {"--slice", "FILE.npy", "write its middle plane z = NZ/2 + 1 only", OPTION_TEXT, offsetof(job, slice)},
    {"--volume", "DIR", "with --every: write snapshots into DIR/volume.h5; ParaView opens DIR/volume.xmf", OPTION_TEXT,
     offsetof(job, volume_folder)},
    CHECKPOINT_OPTIONS(job),
    {"--no-preload", NULL, "over shared arrays: fetch the neighbours' planes by page faults alone", OPTION_NO_FLAG,
     offsetof(job, preload)},
    RUN_OPTIONS(job),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void read_options(job* job, int argc, char** argv) {
  option all[MOST_OPTIONS];
  const int more = job->stencil->option_count;
  memcpy(all, options, sizeof options);
  if (more > 0) memcpy(all + OPTIONS, job->stencil->options, sizeof *all * (size_t)more);
  options_read(&job->team, all, OPTIONS + more, job, argc, argv);
  if (!job->help) return;
  if (job->team.rank == 0) {
    printf("%s: %s\n", job->team.program, job->stencil->about);
    options_print(all, OPTIONS + more);
    printf("\nTry\n%sThreads per rank: hirobarun --threads T, or the environment variable OMP_NUM_THREADS.\n",
           job->stencil->examples);
  }
  team_leave(&job->team);
  exit(0);
}

static void check_options(const job* job) {
  const team* team = &job->team;
  team_agree(team, is(job->start, "mode") || is(job->start, "noise"), TEAM_BAD_INPUT,
             "--start '%s' is not mode or noise", job->start);
  team_agree(team, !job->verify || is(job->start, "mode"), TEAM_BAD_INPUT,
             "--verify knows the answer of --start mode only; leave out one of them");
  team_agree(team, job->every == 0 || job->checkpoint != NULL || job->volume_folder != NULL, TEAM_BAD_INPUT,
             "--every needs --checkpoint FILE or --volume DIR");
  team_agree(team, job->volume_folder == NULL || job->every > 0, TEAM_BAD_INPUT, "--volume needs --every K");
  if (job->volume_folder != NULL) {
    volume_require(team, "--volume");
    files_check_folder(team, "--volume", job->volume_folder);
  }
  files_check_writable(team, "--checkpoint", job->checkpoint);
  files_check_writable(team, "--output", job->output);
  files_check_writable(team, "--slice", job->slice);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum { CHECKPOINT_VERSION = 1 };

/* The planes [from, to) of a field, of which this rank has its own at `field`. */
static slab planes_of(const job* job, const double* field, int from, int to) {
  return (slab){.from = from,
                .to = to,
                .first = job->first,
                .last = job->last,
                .rows = job->ny + 2,
                .row_bytes = sizeof(double) * (size_t)(job->nx + 2),
                .row_pitch = sizeof(double) * (size_t)job->row,
                .plane_pitch = pitch_bytes(job),
                .data = (double*)field + job->shift};
}

static void save_npy(const job* job, const char* path, const double* field, int from, int to) {
  unsigned char header[NPY_HEADER];
  const int64_t shape[3] = {to - from, job->ny + 2, job->nx + 2};
  const int flat = to - from == 1;
  npy_header(header, "<f8", shape + flat, 3 - flat);
  const slab planes = planes_of(job, field, from, to);
  files_save(&job->team, path, header, sizeof header, &planes, 1);
}

static checkpoint header_of(const job* job, int step) {
  checkpoint header = {.version = CHECKPOINT_VERSION, .size = {job->nx, job->ny, job->nz}, .step = step};
  snprintf(header.program, sizeof header.program, "%s", job->stencil->name);
  snprintf(header.settings, sizeof header.settings, "start %s, seed %d", job->start, job->seed);
  return header;
}

static void save_checkpoint(const job* job, int step, const double* field) {
  checkpoint header = header_of(job, step);
  const slab planes = planes_of(job, field, 0, job->nz + 2);
  checkpoint_save(&job->team, job->checkpoint, &header, &planes, 1);
}

/* Takes size and step from the file; job_fill compares the rest. Where --size is given too, the two must agree. */
static void open_restart(job* job) {
  checkpoint found;
  const checkpoint mine = header_of(job, 0);
  checkpoint_open(&job->team, job->restart, &mine, &found);
  const int64_t *n = found.size, limit = options_limit();
  bool good = found.step >= 0 && found.step <= limit;
  for (int d = 0; d < 3; d++) good = good && n[d] >= 1 && n[d] <= limit;
  team_agree(&job->team, good, TEAM_BAD_INPUT, "--restart %s is damaged: it has no size or step", job->restart);
  checkpoint_expect(&job->team, job->restart, &found, (int64_t[]){n[0] + 2, n[1] + 2, n[2] + 2}, sizeof(double));
  team_agree(&job->team, job->size[0] == 0 || (n[0] == job->nx && n[1] == job->ny && n[2] == job->nz), TEAM_BAD_INPUT,
             "--restart %s has %d,%d,%d points, --size has %d,%d,%d; leave out --size", job->restart, (int)n[0],
             (int)n[1], (int)n[2], job->nx, job->ny, job->nz);
  job->nx = (int)n[0], job->ny = (int)n[1], job->nz = (int)n[2], job->step = (int)found.step;
  team_agree(&job->team, job->step <= job->steps, TEAM_BAD_INPUT, "--restart %s is at step %d, --steps is only %d",
             job->restart, job->step, job->steps);
}

static void load_restart(job* job, double* a, double* b) {
  double* const fields[] = {a, b};
  for (int i = 0; i < 2; i++) {
    checkpoint found;
    const checkpoint mine = header_of(job, job->step);
    checkpoint_open(&job->team, job->restart, &mine, &found);
    const slab planes = planes_of(job, fields[i], 0, job->nz + 2);
    checkpoint_load(&job->team, job->restart, &mine, &found, &planes, 1);
  }
}

static void open_volume(job* job) {
  job->volume = (volume){.folder = job->volume_folder,
                         .name = "volume",
                         .field = "u",
                         .size = {job->nx + 2, job->ny + 2, job->nz + 2},
                         .spacing = 1,
                         .every = job->every,
                         .steps = job->steps,
                         .step_time = 1};
  volume_open(&job->team, &job->volume, job->step);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* sin(m pi i / (n+1)), exactly 0 at both ends. */
static double* sine(int m, int n) {
  double* table = calloc((size_t)n + 2, sizeof *table);
  for (int i = 1; table != NULL && i <= n; i++) table[i] = sin(m * pi * i / (n + 1));
  return table;
}

/* The planes of this rank, by the rule of sms_mapalloc: pieces of ceil(planes / ranks), so the last ones may be shorter
 * or empty. */
static void divide(job* job) {
  const int planes = job->nz + 2, count = job->team.count;
  team_agree(&job->team, count <= planes, TEAM_BAD_INPUT,
             "%d ranks are more than the %d planes (NZ = %d and 2 of boundary); use fewer ranks "
             "or a larger --size",
             count, planes, job->nz);
  const int piece = (planes + count - 1) / count;
  job->first = smaller(job->team.rank * piece, planes);
  job->last = smaller(job->first + piece, planes);
  job->lo = larger(job->first, 1);
  job->hi = larger(smaller(job->last, planes - 1), job->lo);
}

/* How the fields lie in memory. */
static void lay_out(job* job) {
  const int align = job->stencil->align;
  job->shift = align - 1;
  job->row = (job->shift + job->nx + 2 + align - 1) / align * align;
  team_agree(&job->team, ((double)job->nx + 2 * align) * ((double)job->ny + 2) <= MOST_POINTS, TEAM_BAD_INPUT,
             "a plane of %d x %d points has more than the %d that this program can handle; use a smaller --size",
             job->nx, job->ny, MOST_POINTS);
  const ptrdiff_t in_plane = (ptrdiff_t)job->row * (job->ny + 2);
  job->plane_points = (in_plane + PAGE_POINTS - 1) / PAGE_POINTS * PAGE_POINTS;
  divide(job);
  memory_check(&job->team, 2.0 * (job->last - job->first) * (double)pitch_bytes(job), "a box of this --size");
}

void job_begin(job* job, const stencil* stencil, const char* program, team team, int argc, char** argv) {
  *job = (struct job){.stencil = stencil,
                      .team = team,
                      .nx = 64,
                      .ny = 64,
                      .nz = 64,
                      .steps = 100,
                      .seed = 1,
                      .start = "mode",
                      .preload = true,
                      .threads = 1};
#ifdef _OPENMP
  job->threads = omp_get_max_threads();
#endif
  job->team.program = program;
  read_options(job, argc, argv);
  if (job->size[0] != 0) job->nx = job->size[0], job->ny = job->size[1], job->nz = job->size[2];
  check_options(job);
  if (job->restart != NULL) open_restart(job);
  lay_out(job);
  job->sine_x = sine(1, job->nx);
  job->sine_y = sine(2, job->ny);
  job->sine_z = sine(3, job->nz);
  team_agree(&job->team, job->sine_x != NULL && job->sine_y != NULL && job->sine_z != NULL, TEAM_BAD_INPUT,
             "no memory for a plane of %zu bytes", pitch_bytes(job));
  if (team.rank != 0 || job->json) return;
  printf("%s: %d x %d x %d points, %.1f MiB, %d rank%s x %d thread%s, %d steps\n", program, job->nx, job->ny, job->nz,
         2.0 * (job->nz + 2) * (double)pitch_bytes(job) / 1048576, team.count, team.count == 1 ? "" : "s", job->threads,
         job->threads == 1 ? "" : "s", job->steps);
  fflush(stdout);
}

void* job_private(job* job, int planes) {
  const size_t bytes = (size_t)larger(planes, 1) * pitch_bytes(job);
  void* const memory = memory_pages(bytes);
  team_agree(&job->team, memory != NULL, TEAM_BAD_INPUT,
             "there is no memory for a field of %.1f GiB; use a smaller --size", (double)bytes / 1073741824);
  return job->fields[job->fields[0] != NULL] = memory;
}

void job_fill(job* job, double* a, double* b) {
  const int ny = job->ny, nx = job->nx;
  const bool noise = is(job->start, "noise");
  const uint64_t seed = (uint64_t)job->seed;
#pragma omp parallel for schedule(static)
  for (int z = job->first; z < job->last; z++)
    for (int y = 0; y < ny + 2; y++)
      for (int x = 0; x < nx + 2; x++) {
        const ptrdiff_t at = job_at(job, z, y, x);
        const bool inside = z >= 1 && z <= job->nz && y >= 1 && y <= ny && x >= 1 && x <= nx;
        if (noise) a[at] = b[at] = inside ? noise_of(seed, z, y, x) : 0;
        else a[at] = b[at] = job->sine_z[z] * job->sine_y[y] * job->sine_x[x];
      }
  if (job->restart != NULL) load_restart(job, a, b);
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

void job_start(job* job) {
  if (job->volume_folder != NULL) open_volume(job);
  job->run.work = points(job);
  job->run.unit = "LUP";
  run_start(&job->run, &job->team, job->step, job->steps);
}

int job_depth(const job* job, int step, int most) {
  const int left = job->every > 0 ? job->every - step % job->every : most;
  return smaller(smaller(most, left), job->steps - step);
}

bool job_step(job* job, int step, const double* field) {
  const bool stop = run_step(&job->run, step, NULL, NULL, NULL);
  const bool due = job->every > 0 && step % job->every == 0;
  const bool save = job->checkpoint != NULL && (due || step == job->steps || stop);
  if (job->fetch != NULL && (save || due)) job->fetch(job->fetch_of, field);
  if (save) save_checkpoint(job, step, field);
  if (job->volume_folder != NULL && due) {
    const slab planes = planes_of(job, field, 0, job->nz + 2);
    volume_write(&job->team, &job->volume, step, &planes);
  }
  return !stop;
}

void job_stop(job* job) { run_stop(&job->run); }

/* ---- end --------------------------------------------------------------------------------------------------------- */

/* The largest difference from the exact solution: the mode of the start times lambda^steps. */
static double largest_error(const job* job, const double* field) {
  const int ny = job->ny, nx = job->nx;
  const double lambda =
      job->stencil->factor(cos(1 * pi / (nx + 1)), cos(2 * pi / (ny + 1)), cos(3 * pi / (job->nz + 1)));
  const double decay = pow(lambda, job->steps);
  double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
  for (int z = job->first; z < job->last; z++)
    for (int y = 0; y < ny + 2; y++)
      for (int x = 0; x < nx + 2; x++) {
        const double error =
            fabs(field[job_at(job, z, y, x)] - decay * (job->sine_z[z] * job->sine_y[y] * job->sine_x[x]));
        if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
      }
  return team_max(&job->team, worst);
}

static void report(const job* job, double error, const counter* counters) {
  const double done = job->steps - job->step;
  const double glups = job->run.seconds > 0 ? 1e-9 * points(job) * done / job->run.seconds : 0;
  if (!job->json) {
    printf("%.4f s, %.3f GLUP/s (10^9 points per second)\n", job->run.seconds, glups);
    for (const counter* c = counters; c != NULL && c->name != NULL; c++)
      printf("  %-16s %12lld\n", c->name, (long long)c->value);
    if (job->verify)
      printf("%s: largest error %.2g, limit %.0e\n", error <= tolerance ? "verified" : "WRONG", error, tolerance);
    return;
  }
  printf(
      "{\"program\": \"%s\", \"size\": [%d, %d, %d], \"steps\": %g, \"ranks\": %d, \"threads\": %d, \"seconds\": %.9f, "
      "\"glups\": %.6f, \"error\": ",
      job->team.program, job->nx, job->ny, job->nz, done, job->team.count, job->threads, job->run.seconds, glups);
  if (job->verify) printf("%.17g", isfinite(error) ? error : 1e308);
  else printf("null");
  printf(", \"counters\": {");
  for (const counter* c = counters; c != NULL && c->name != NULL; c++)
    printf("%s\"%s\": %lld", c == counters ? "" : ", ", c->name, (long long)c->value);
  printf("}}\n");
}

int job_finish(job* job, const double* field, const counter counters[]) {
  const bool stopped = job->run.stopped != 0;
  const int status = stopped ? run_end_stopped(&job->run, job->checkpoint) : 0;
  const double error = job->verify && !stopped ? largest_error(job, field) : 0;
  if (stopped) job->output = job->slice = NULL;
  if (job->output != NULL) save_npy(job, job->output, field, 0, job->nz + 2);
  if (job->slice != NULL) save_npy(job, job->slice, field, job->nz / 2 + 1, job->nz / 2 + 2);
  if (job->team.rank == 0 && !stopped) report(job, error, counters);
  team_agree(&job->team, error <= tolerance, TEAM_WRONG, "the answer is wrong: largest error %.3g, limit %.0e", error,
             tolerance);
  team_leave(&job->team);
  if (job->volume_folder != NULL) volume_close(&job->volume);
  void* const ours[] = {job->sine_x, job->sine_y, job->sine_z, job->fields[0], job->fields[1]};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) free(ours[i]);
  return status;
}
