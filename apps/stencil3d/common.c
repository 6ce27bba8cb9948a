#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"

static const double tolerance = 1e-13; /* of --verify; double precision leaves about 5e-15 */
static const double pi = 3.14159265358979323846;

static size_t plane_bytes(const job* job) { return (size_t)(job->ny + 2) * (size_t)(job->nx + 2) * sizeof(double); }

static size_t pitch_bytes(const job* job) { return (size_t)job->plane_points * sizeof(double); }

/* Where a point lies in the planes of this rank. */
static ptrdiff_t place(const job* job, int z, int y, int x) {
  return (z - job->first) * job->plane_points + y * (ptrdiff_t)(job->nx + 2) + x;
}

static double points(const job* job) { return (double)job->nx * job->ny * job->nz; }

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const option options[] = {
    {"--size", "N or NX,NY,NZ", "points to compute in each direction, each >= 1 (default 64); x is contiguous",
     OPTION_SIZE, offsetof(job, size)},
    {"--steps", "T", "time steps, counted from the start of the simulation (default 100)", OPTION_NUMBER,
     offsetof(job, steps)},
    {"--verify", NULL, "compare with the exact solution; exit status 1 if it differs by more than 1e-13", OPTION_FLAG,
     offsetof(job, verify)},
    {"--output", "FILE.npy", "write the final field, boundary included, for numpy.load", OPTION_TEXT,
     offsetof(job, output)},
    {"--slice", "FILE.npy", "write its middle plane z = NZ/2 + 1 only", OPTION_TEXT, offsetof(job, slice)},
    {"--checkpoint", "FILE", "write the state, so that a later run can go on from it", OPTION_TEXT,
     offsetof(job, checkpoint)},
    {"--every", "K", "with --checkpoint: after every K steps (default: after the last)", OPTION_NUMBER,
     offsetof(job, every)},
    {"--restart", "FILE", "go on from a checkpoint, on any number of ranks, in any of the programs", OPTION_TEXT,
     offsetof(job, restart)},
    {"--no-preload", NULL, "stencil_sms: fetch the neighbours' planes by page faults alone", OPTION_NO_FLAG,
     offsetof(job, preload)},
    {"--progress", NULL, "show progress on standard error even if that is not a terminal", OPTION_FLAG,
     offsetof(job, run) + offsetof(run, progress)},
    {"--json", NULL, "print the report as one line of JSON", OPTION_FLAG, offsetof(job, json)},
    {"--help", NULL, "print this", OPTION_FLAG, offsetof(job, help)},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const job* job) {
  printf(
      "%s: heat spreads through a box: the 7-point stencil, in double precision\n\n"
      "  new = 0.4*old + 0.1*(the six neighbours)      the boundary keeps its value, 0\n\n"
      "It starts from a sine mode that the stencil damps by a known factor per step, so --verify knows the answer.\n\n",
      job->team.program);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  hirobarun -n 2 stencil_sms --size 128 --steps 200 --verify                2 ranks that share memory\n"
      "  hirobarun -n 4 --nodes 2 stencil_sms --size 128 --verify --json           2 virtual nodes; the counters show"
      " what went between them\n"
      "  stencil_omp --steps 50 --checkpoint half; hirobarun -n 3 stencil_sms --restart half --verify\n"
      "  mpirun -n 2 stencil_mpi --size 128 --steps 200 --verify                   the rival\n"
      "Threads per rank: hirobarun --threads T, or the environment variable OMP_NUM_THREADS.\n");
}

/* ---- files: checkpoints and .npy ------------------------------------------------------------------------------- */

typedef struct checkpoint_header {
  char magic[8];
  int64_t nx, ny, nz, step, unused[3];
} checkpoint_header;

static const char checkpoint_magic[8] = {'S', 'T', 'E', 'N', 'C', 'I', 'L', '7'};

/* The planes [from, to) of a field, of which this rank has its own at `field`. */
static slab planes_of(const job* job, double* field, int from, int to) {
  return (slab){.from = from,
                .to = to,
                .first = job->first,
                .last = job->last,
                .rows = 1,
                .row_bytes = plane_bytes(job),
                .row_pitch = plane_bytes(job),
                .plane_pitch = pitch_bytes(job),
                .data = field};
}

static void save_npy(const job* job, const char* path, const double* field, int from, int to) {
  unsigned char header[NPY_HEADER];
  const int64_t shape[3] = {to - from, job->ny + 2, job->nx + 2};
  const int flat = to - from == 1;
  npy_header(header, "<f8", shape + flat, 3 - flat);
  const slab planes = planes_of(job, (double*)field, from, to);
  files_save(&job->team, path, header, sizeof header, &planes, 1);
}

static void save_checkpoint(const job* job, int step, const double* field) {
  checkpoint_header header = {.nx = job->nx, .ny = job->ny, .nz = job->nz, .step = step};
  memcpy(header.magic, checkpoint_magic, sizeof header.magic);
  const slab planes = planes_of(job, (double*)field, 0, job->nz + 2);
  files_save(&job->team, job->checkpoint, &header, sizeof header, &planes, 1);
}

/* Takes size and step from the file. Where --size is given too, the two must agree. */
static void open_restart(job* job, bool sized) {
  checkpoint_header h;
  const int file = open(job->restart, O_RDONLY | O_CLOEXEC);
  struct stat info;
  team_agree(&job->team, file >= 0 && fstat(file, &info) == 0, TEAM_BAD_INPUT, "cannot read --restart %s: %s",
             job->restart, strerror(errno));
  const int64_t limit = options_limit();
  const bool ours = files_read(file, &h, sizeof h, 0) && memcmp(h.magic, checkpoint_magic, sizeof h.magic) == 0 &&
                    h.nx >= 1 && h.nx <= limit && h.ny >= 1 && h.ny <= limit && h.nz >= 1 && h.nz <= limit &&
                    h.step >= 0 && h.step <= limit;
  close(file);
  team_agree(&job->team, ours, TEAM_BAD_INPUT, "--restart %s is not a checkpoint of this program", job->restart);
  team_agree(&job->team, !sized || (h.nx == job->nx && h.ny == job->ny && h.nz == job->nz), TEAM_BAD_INPUT,
             "--restart %s holds %d,%d,%d points, --size asks for %d,%d,%d; leave out --size", job->restart, (int)h.nx,
             (int)h.ny, (int)h.nz, job->nx, job->ny, job->nz);
  job->nx = (int)h.nx, job->ny = (int)h.ny, job->nz = (int)h.nz, job->step = (int)h.step;
  const long long expected = (long long)(sizeof h + (size_t)(job->nz + 2) * plane_bytes(job));
  team_agree(&job->team, info.st_size == expected, TEAM_BAD_INPUT,
             "--restart %s has %lld bytes, not %lld: it is damaged", job->restart, (long long)info.st_size, expected);
  team_agree(&job->team, job->step <= job->steps, TEAM_BAD_INPUT,
             "--restart %s has %d steps behind it, --steps is only %d", job->restart, job->step, job->steps);
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

void job_begin(job* job, const char* program, team team, int argc, char** argv) {
  *job = (struct job){.team = team, .nx = 64, .ny = 64, .nz = 64, .steps = 100, .preload = true, .threads = 1};
#ifdef _OPENMP
  job->threads = omp_get_max_threads();
#endif
  job->team.program = program;
  options_read(&job->team, options, OPTIONS, job, argc, argv);
  const bool sized = job->size[0] != 0;
  if (sized) job->nx = job->size[0], job->ny = job->size[1], job->nz = job->size[2];
  if (job->help) {
    if (team.rank == 0) print_help(job);
    team_leave(&job->team);
    exit(0);
  }
  team_agree(&job->team, job->every == 0 || job->checkpoint != NULL, TEAM_BAD_INPUT, "--every needs --checkpoint FILE");
  if (job->every == 0) job->every = job->steps;
  if (job->restart != NULL) open_restart(job, sized);
  enum { PAGE_POINTS = 4096 / sizeof(double), MOST_POINTS = INT_MAX / PAGE_POINTS * PAGE_POINTS };
  team_agree(&job->team, ((double)job->nx + 2) * ((double)job->ny + 2) <= MOST_POINTS, TEAM_BAD_INPUT,
             "a plane of %d x %d points has more than the %d that this program can handle; use a smaller --size",
             job->nx, job->ny, MOST_POINTS);
  const ptrdiff_t in_plane = (ptrdiff_t)(job->nx + 2) * (job->ny + 2);
  job->plane_points = (in_plane + PAGE_POINTS - 1) / PAGE_POINTS * PAGE_POINTS;
  divide(job);
  files_check_writable(&job->team, "--checkpoint", job->checkpoint);
  files_check_writable(&job->team, "--output", job->output);
  files_check_writable(&job->team, "--slice", job->slice);
  job->sine_x = sine(1, job->nx);
  job->sine_y = sine(2, job->ny);
  job->sine_z = sine(3, job->nz);
  team_agree(&job->team, job->sine_x != NULL && job->sine_y != NULL && job->sine_z != NULL, TEAM_BAD_INPUT,
             "no memory for a plane of %zu bytes", plane_bytes(job));
  if (team.rank != 0 || job->json) return;
  printf("%s: %d x %d x %d points, %.1f MiB, %d rank%s x %d thread%s, %d steps\n", program, job->nx, job->ny, job->nz,
         2.0 * (job->nz + 2) * (double)pitch_bytes(job) / 1048576, team.count, team.count == 1 ? "" : "s", job->threads,
         job->threads == 1 ? "" : "s", job->steps);
  fflush(stdout);
}

void* job_private(job* job, int planes) {
  const double bytes = (double)larger(planes, 1) * (double)pitch_bytes(job);
  const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  void* const memory = 2 * bytes <= machine ? memory_pages((size_t)bytes) : NULL;
  team_agree(&job->team, memory != NULL, TEAM_BAD_INPUT,
             "two fields of %.1f GiB do not fit into the %.1f GiB of this machine; use a smaller --size",
             bytes / 1073741824, machine / 1073741824);
  return job->fields[job->fields[0] != NULL] = memory;
}

void job_fill(const job* job, double* a, double* b) {
  const int ny = job->ny, nx = job->nx;
#pragma omp parallel for schedule(static)
  for (int z = job->first; z < job->last; z++)
    for (int y = 0; y < ny + 2; y++)
      for (int x = 0; x < nx + 2; x++) {
        const ptrdiff_t at = place(job, z, y, x);
        a[at] = b[at] = job->sine_z[z] * job->sine_y[y] * job->sine_x[x];
      }
  if (job->restart == NULL) return;

  double* const fields[] = {a, b};
  for (int i = 0; i < 2; i++) {
    const slab planes = planes_of(job, fields[i], 0, job->nz + 2);
    files_load(&job->team, job->restart, sizeof(checkpoint_header), &planes, 1);
  }
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

void job_start(job* job) {
  job->run.work = points(job);
  job->run.unit = "LUP";
  run_start(&job->run, &job->team, job->step, job->steps);
}

bool job_step(job* job, int step, const double* field) {
  const bool stop = run_step(&job->run, step, NULL, NULL, NULL);
  const bool due = step % job->every == 0 || step == job->steps || stop;
  if (job->checkpoint != NULL && due) save_checkpoint(job, step, field);
  return !stop;
}

void job_stop(job* job) { run_stop(&job->run); }

/* ---- end --------------------------------------------------------------------------------------------------------- */

/* The largest difference from the exact solution: the mode of the start times lambda^steps. */
static double largest_error(const job* job, const double* field) {
  const int ny = job->ny, nx = job->nx;
  const double lambda = 0.4 + 0.2 * (cos(1 * pi / (nx + 1)) + cos(2 * pi / (ny + 1)) + cos(3 * pi / (job->nz + 1)));
  const double decay = pow(lambda, job->steps);
  double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
  for (int z = job->first; z < job->last; z++)
    for (int y = 0; y < ny + 2; y++)
      for (int x = 0; x < nx + 2; x++) {
        const double error =
            fabs(field[place(job, z, y, x)] - decay * (job->sine_z[z] * job->sine_y[y] * job->sine_x[x]));
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
  void* const ours[] = {job->sine_x, job->sine_y, job->sine_z, job->fields[0], job->fields[1]};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) free(ours[i]);
  return status;
}
