#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { WRONG = 1, BAD_INPUT = 2 }; /* exit statuses */

static const double tolerance = 1e-13; /* of --verify; double precision leaves about 5e-15 */
static const double pi = 3.14159265358979323846;

/* ---- messages and agreement ------------------------------------------------------------------------------------- */

static double max_of_team(const job* job, double mine) { return job->team.max != NULL ? job->team.max(mine) : mine; }

static void leave(const job* job) {
  fflush(stdout);
  if (job->team.leave != NULL) job->team.leave();
}

/* Ends the program for every rank if any of them has something to complain about; the lowest such rank says it. */
__attribute__((format(printf, 4, 5))) static void agree(const job* job, bool good, int status, const char* pattern,
                                                        ...) {
  const double worst = max_of_team(job, good ? 0 : job->team.count - job->team.rank);
  if (worst == 0) return;
  if (worst == job->team.count - job->team.rank) {
    va_list arguments;
    va_start(arguments, pattern);
    fprintf(stderr, "%s: ", job->program);
    vfprintf(stderr, pattern, arguments);
    fputc('\n', stderr);
    va_end(arguments);
  }
  leave(job);
  exit(status);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t plane_bytes(const job* job) { return (size_t)(job->ny + 2) * (size_t)(job->nx + 2) * sizeof(double); }

static size_t pitch_bytes(const job* job) { return (size_t)job->plane_points * sizeof(double); }

/* Where a point lies in the planes of this rank. */
static ptrdiff_t place(const job* job, int z, int y, int x) {
  return (z - job->first) * job->plane_points + y * (ptrdiff_t)(job->nx + 2) + x;
}

static double points(const job* job) { return (double)job->nx * job->ny * job->nz; }

/* ---- options ----------------------------------------------------------------------------------------------------- */

typedef enum { SIZE, NUMBER, TEXT, FLAG, NO_FLAG } kind;

typedef struct option {
  const char *name, *value, *help;
  kind kind;
  size_t offset; /* of what it sets, in job */
} option;

static const option options[] = {
    {"--size", "N or NX,NY,NZ", "points to compute in each direction, each >= 1 (default 64); x is contiguous", SIZE,
     0},
    {"--steps", "T", "time steps, counted from the start of the simulation (default 100)", NUMBER,
     offsetof(job, steps)},
    {"--verify", NULL, "compare with the exact solution; exit status 1 if it differs by more than 1e-13", FLAG,
     offsetof(job, verify)},
    {"--output", "FILE.npy", "write the final field, boundary included, for numpy.load", TEXT, offsetof(job, output)},
    {"--slice", "FILE.npy", "write its middle plane z = NZ/2 + 1 only", TEXT, offsetof(job, slice)},
    {"--checkpoint", "FILE", "write the state, so that a later run can go on from it", TEXT, offsetof(job, checkpoint)},
    {"--every", "K", "with --checkpoint: after every K steps (default: after the last)", NUMBER, offsetof(job, every)},
    {"--restart", "FILE", "go on from a checkpoint, on any number of ranks, in any of the programs", TEXT,
     offsetof(job, restart)},
    {"--no-preload", NULL, "stencil_sms: fetch the neighbours' planes by page faults alone", NO_FLAG,
     offsetof(job, preload)},
    {"--progress", NULL, "show progress on standard error even if that is not a terminal", FLAG,
     offsetof(job, progress)},
    {"--json", NULL, "print the report as one line of JSON", FLAG, offsetof(job, json)},
    {"--help", NULL, "print this", FLAG, offsetof(job, help)},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const job* job) {
  printf(
      "%s: heat spreads through a box: the 7-point stencil, in double precision\n\n"
      "  new = 0.4*old + 0.1*(the six neighbours)      the boundary keeps its value, 0\n\n"
      "It starts from a sine mode that the stencil damps by a known factor per step, so --verify knows the answer.\n\n",
      job->program);
  for (int i = 0; i < OPTIONS; i++) {
    char left[40];
    snprintf(left, sizeof left, "%s %s", options[i].name, options[i].value != NULL ? options[i].value : "");
    printf("  %-24s %s\n", left, options[i].help);
  }
  printf(
      "\nTry\n"
      "  hirobarun -n 2 stencil_sms --size 128 --steps 200 --verify                2 ranks that share memory\n"
      "  hirobarun -n 4 --nodes 2 stencil_sms --size 128 --verify --json           2 virtual nodes; the counters show"
      " what went between them\n"
      "  stencil_omp --steps 50 --checkpoint half; hirobarun -n 3 stencil_sms --restart half --verify\n"
      "  mpirun -n 2 stencil_mpi --size 128 --steps 200 --verify                   the rival\n"
      "Threads per rank: hirobarun --threads T, or the environment variable OMP_NUM_THREADS.\n");
}

static int edit_distance(const char* a, const char* b) {
  int row[64];
  const int columns = smaller((int)strlen(b), 63);
  for (int j = 0; j <= columns; j++) row[j] = j;
  for (int i = 1; a[i - 1] != '\0'; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= columns; j++) {
      const int above = row[j];
      row[j] = smaller(smaller(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[columns];
}

static const option* nearest(const char* word) {
  const option* best = &options[0];
  for (int i = 1; i < OPTIONS; i++)
    if (edit_distance(word, options[i].name) < edit_distance(word, best->name)) best = &options[i];
  return best;
}

/* "N" or "N,N,N" with numbers in [1, INT_MAX - 2]; anything else is refused. */
static bool parse_size(const char* text, int* nx, int* ny, int* nz) {
  int* const out[3] = {nx, ny, nz};
  int count = 0;
  char* end = NULL;
  do {
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (end == text || errno != 0 || n < 1 || n > INT_MAX - 2 || count == 3) return false;
    *out[count++] = (int)n;
    text = end + 1;
  } while (*end == ',');
  if (count == 1) *ny = *nz = *nx;
  return *end == '\0' && count != 2;
}

/* Every rank reads the same words, so they agree without asking each other what to do. */
static void parse(job* job, int argc, char** argv, bool* sized) {
  for (int i = 1; i < argc; i++) {
    const option* option = NULL;
    for (int k = 0; k < OPTIONS; k++)
      if (strcmp(argv[i], options[k].name) == 0) option = &options[k];
    agree(job, option != NULL, BAD_INPUT, "unknown option '%s'; did you mean %s? (--help lists all)", argv[i],
          nearest(argv[i])->name);
    void* const field = (char*)job + option->offset;
    if (option->kind == FLAG || option->kind == NO_FLAG) {
      *(bool*)field = option->kind == FLAG;
      continue;
    }
    agree(job, i + 1 < argc, BAD_INPUT, "%s needs a value: %s %s", option->name, option->name, option->value);
    const char* const value = argv[++i];
    int ignored;
    bool good = true;
    if (option->kind == SIZE) good = *sized = parse_size(value, &job->nx, &job->ny, &job->nz);
    if (option->kind == NUMBER) good = strchr(value, ',') == NULL && parse_size(value, field, &ignored, &ignored);
    if (option->kind == TEXT) *(const char**)field = value;
    agree(job, good, BAD_INPUT, "%s '%s' is not %s with whole numbers from 1 to %d", option->name, value, option->value,
          INT_MAX - 2);
  }
}

/* ---- files: checkpoints and .npy ------------------------------------------------------------------------------- */

typedef struct checkpoint_header {
  char magic[8];
  int64_t nx, ny, nz, step, unused[3];
} checkpoint_header;

static const char checkpoint_magic[8] = {'S', 'T', 'E', 'N', 'C', 'I', 'L', '7'};

static bool read_all(int file, void* to, size_t bytes, off_t from) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pread(file, (char*)to + done, bytes - done, from + (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENODATA;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static bool write_all(int file, const void* data, size_t bytes, off_t to) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(file, (const char*)data + done, bytes - done, to + (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

/* Writes a header and the planes [from, to), every rank its own, to a new file that takes its name when it is whole.
 * The ranks must see the same file system. */
static void save(const job* job, const char* path, const void* header, size_t header_bytes, const double* field,
                 int from, int to) {
  char part[PATH_MAX];
  snprintf(part, sizeof part, "%s.part", path);
  const size_t bytes = plane_bytes(job);
  const int file = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  bool good = file >= 0 && ftruncate(file, (off_t)(header_bytes + (size_t)(to - from) * bytes)) == 0;
  if (job->team.rank == 0) good = good && write_all(file, header, header_bytes, 0);
  for (int z = larger(from, job->first); good && z < smaller(to, job->last); z++) {
    memcpy(job->plane, field + place(job, z, 0, 0), bytes);
    good = write_all(file, job->plane, bytes, (off_t)(header_bytes + (size_t)(z - from) * bytes));
  }
  int problem = errno;
  if (file >= 0 && close(file) != 0 && good) good = false, problem = errno;
  agree(job, good, WRONG, "cannot write %s: %s", part, strerror(problem));
  good = job->team.rank != 0 || rename(part, path) == 0;
  agree(job, good, WRONG, "cannot rename %s to %s: %s", part, path, strerror(errno));
}

/* The planes [from, to) as an array for numpy: a magic word, a version, the length of a description, the description,
 * together a multiple of 64 bytes. */
static void save_npy(const job* job, const char* path, const double* field, int from, int to) {
  unsigned char header[192] = "\x93NUMPY\x01";
  const int length = sizeof header - 10;
  header[8] = length & 255;
  header[9] = length >> 8;
  char shape[64];
  if (to - from == 1) snprintf(shape, sizeof shape, "%d, %d", job->ny + 2, job->nx + 2);
  else snprintf(shape, sizeof shape, "%d, %d, %d", to - from, job->ny + 2, job->nx + 2);
  const int used =
      snprintf((char*)header + 10, (size_t)length, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", shape);
  memset(header + 10 + used, ' ', (size_t)(length - used - 1));
  header[sizeof header - 1] = '\n';
  save(job, path, header, sizeof header, field, from, to);
}

static void save_checkpoint(const job* job, int step, const double* field) {
  checkpoint_header header = {.nx = job->nx, .ny = job->ny, .nz = job->nz, .step = step};
  memcpy(header.magic, checkpoint_magic, sizeof header.magic);
  save(job, job->checkpoint, &header, sizeof header, field, 0, job->nz + 2);
}

/* Takes size and step from the file. Where --size is given too, the two must agree. */
static void open_restart(job* job, bool sized) {
  checkpoint_header h;
  const int file = open(job->restart, O_RDONLY | O_CLOEXEC);
  struct stat info;
  agree(job, file >= 0 && fstat(file, &info) == 0, BAD_INPUT, "cannot read --restart %s: %s", job->restart,
        strerror(errno));
  const int64_t limit = INT_MAX - 2;
  const bool ours = read_all(file, &h, sizeof h, 0) && memcmp(h.magic, checkpoint_magic, sizeof h.magic) == 0 &&
                    h.nx >= 1 && h.nx <= limit && h.ny >= 1 && h.ny <= limit && h.nz >= 1 && h.nz <= limit &&
                    h.step >= 0 && h.step <= limit;
  close(file);
  agree(job, ours, BAD_INPUT, "--restart %s is not a checkpoint of this program", job->restart);
  agree(job, !sized || (h.nx == job->nx && h.ny == job->ny && h.nz == job->nz), BAD_INPUT,
        "--restart %s holds %d,%d,%d points, --size asks for %d,%d,%d; leave out --size", job->restart, (int)h.nx,
        (int)h.ny, (int)h.nz, job->nx, job->ny, job->nz);
  job->nx = (int)h.nx, job->ny = (int)h.ny, job->nz = (int)h.nz, job->step = (int)h.step;
  const long long expected = (long long)(sizeof h + (size_t)(job->nz + 2) * plane_bytes(job));
  agree(job, info.st_size == expected, BAD_INPUT, "--restart %s has %lld bytes, not %lld: it is damaged", job->restart,
        (long long)info.st_size, expected);
  agree(job, job->step <= job->steps, BAD_INPUT, "--restart %s has %d steps behind it, --steps is only %d",
        job->restart, job->step, job->steps);
}

/* Finds out before hours of computing that the answer cannot be kept. */
static void check_writable(const job* job, const char* option, const char* path) {
  if (path == NULL) return;
  char part[PATH_MAX];
  bool good = true;
  int problem = 0;
  if (job->team.rank == 0) {
    struct stat info;
    errno = snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part ? ENAMETOOLONG
            : stat(path, &info) == 0 && S_ISDIR(info.st_mode)                ? EISDIR
                                                                             : 0;
    const int file = errno == 0 ? open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
    problem = errno;
    good = file >= 0;
    if (good) close(file), unlink(part);
  }
  agree(job, good, BAD_INPUT, "cannot write %s %s: %s", option, path, strerror(problem));
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
  agree(job, count <= planes, BAD_INPUT,
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
  *job = (struct job){
      .program = program, .team = team, .nx = 64, .ny = 64, .nz = 64, .steps = 100, .preload = true, .threads = 1};
#ifdef _OPENMP
  job->threads = omp_get_max_threads();
#endif
  bool sized = false;
  parse(job, argc, argv, &sized);
  if (job->help) {
    if (team.rank == 0) print_help(job);
    leave(job);
    exit(0);
  }
  agree(job, job->every == 0 || job->checkpoint != NULL, BAD_INPUT, "--every needs --checkpoint FILE");
  if (job->every == 0) job->every = job->steps;
  if (job->restart != NULL) open_restart(job, sized);
  enum { PAGE_POINTS = 4096 / sizeof(double), MOST_POINTS = INT_MAX / PAGE_POINTS * PAGE_POINTS };
  agree(job, ((double)job->nx + 2) * ((double)job->ny + 2) <= MOST_POINTS, BAD_INPUT,
        "a plane of %d x %d points has more than the %d that this program can handle; use a smaller --size", job->nx,
        job->ny, MOST_POINTS);
  const ptrdiff_t in_plane = (ptrdiff_t)(job->nx + 2) * (job->ny + 2);
  job->plane_points = (in_plane + PAGE_POINTS - 1) / PAGE_POINTS * PAGE_POINTS;
  divide(job);
  check_writable(job, "--checkpoint", job->checkpoint);
  check_writable(job, "--output", job->output);
  check_writable(job, "--slice", job->slice);
  job->sine_x = sine(1, job->nx);
  job->sine_y = sine(2, job->ny);
  job->sine_z = sine(3, job->nz);
  job->plane = malloc(plane_bytes(job));
  agree(job, job->sine_x != NULL && job->sine_y != NULL && job->sine_z != NULL && job->plane != NULL, BAD_INPUT,
        "no memory for a plane of %zu bytes", plane_bytes(job));
  if (team.rank != 0 || job->json) return;
  printf("%s: %d x %d x %d points, %.1f MiB, %d rank%s x %d thread%s, %d steps\n", program, job->nx, job->ny, job->nz,
         2.0 * (job->nz + 2) * (double)pitch_bytes(job) / 1048576, team.count, team.count == 1 ? "" : "s", job->threads,
         job->threads == 1 ? "" : "s", job->steps);
  fflush(stdout);
}

/* In huge pages, as shared arrays are: where the machine has them, small ones take a third longer. */
void* job_private(job* job, int planes) {
  const size_t huge_page = 2 << 20;
  const double bytes = (double)larger(planes, 1) * (double)pitch_bytes(job);
  const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  void* memory = NULL;
  if (2 * bytes <= machine) {
    const size_t whole = ((size_t)bytes + huge_page - 1) / huge_page * huge_page;
    memory = aligned_alloc(huge_page, whole);
    if (memory != NULL) madvise(memory, whole, MADV_HUGEPAGE);
  }
  agree(job, memory != NULL, BAD_INPUT,
        "two fields of %.1f GiB do not fit into the %.1f GiB of this machine; use a smaller --size", bytes / 1073741824,
        machine / 1073741824);
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

  const size_t bytes = plane_bytes(job);
  const int file = open(job->restart, O_RDONLY | O_CLOEXEC);
  bool good = file >= 0;
  for (int z = job->first; good && z < job->last; z++) {
    good = read_all(file, job->plane, bytes, (off_t)(sizeof(checkpoint_header) + (size_t)z * bytes));
    memcpy(a + place(job, z, 0, 0), job->plane, bytes);
    memcpy(b + place(job, z, 0, 0), job->plane, bytes);
  }
  agree(job, good, BAD_INPUT, "cannot read --restart %s: %s", job->restart, strerror(errno));
  close(file);
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

void job_start(job* job) {
  if (isatty(STDERR_FILENO)) job->progress = true;
  if (job->team.rank != 0) job->progress = false;
  max_of_team(job, 0);
  job->started = job->last_shown = now();
}

void job_step(job* job, int step, const double* field) {
  if (job->checkpoint != NULL && (step % job->every == 0 || step == job->steps)) save_checkpoint(job, step, field);
  if (!job->progress) return;
  const double time = now();
  if (time - job->last_shown < 0.5 && step < job->steps) return;
  job->last_shown = time;
  const double per_step = (time - job->started) / (step - job->step);
  const bool terminal = isatty(STDERR_FILENO);
  fprintf(stderr, "%s%s: step %d of %d, %.3f GLUP/s, %.1f s left%s", terminal ? "\r\033[K" : "", job->program, step,
          job->steps, 1e-9 * points(job) / per_step, per_step * (job->steps - step),
          terminal && step < job->steps ? "" : "\n");
}

void job_stop(job* job) { job->seconds = max_of_team(job, now() - job->started); }

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
  return max_of_team(job, worst);
}

static void report(const job* job, double error, const counter* counters) {
  const double done = job->steps - job->step;
  const double glups = job->seconds > 0 ? 1e-9 * points(job) * done / job->seconds : 0;
  if (!job->json) {
    printf("%.4f s, %.3f GLUP/s (10^9 points per second)\n", job->seconds, glups);
    for (const counter* c = counters; c != NULL && c->name != NULL; c++)
      printf("  %-16s %12lld\n", c->name, (long long)c->value);
    if (job->verify)
      printf("%s: largest error %.2g, limit %.0e\n", error <= tolerance ? "verified" : "WRONG", error, tolerance);
    return;
  }
  printf(
      "{\"program\": \"%s\", \"size\": [%d, %d, %d], \"steps\": %g, \"ranks\": %d, \"threads\": %d, \"seconds\": %.9f, "
      "\"glups\": %.6f, \"error\": ",
      job->program, job->nx, job->ny, job->nz, done, job->team.count, job->threads, job->seconds, glups);
  if (job->verify) printf("%.17g", isfinite(error) ? error : 1e308);
  else printf("null");
  printf(", \"counters\": {");
  for (const counter* c = counters; c != NULL && c->name != NULL; c++)
    printf("%s\"%s\": %lld", c == counters ? "" : ", ", c->name, (long long)c->value);
  printf("}}\n");
}

int job_finish(job* job, const double* field, const counter counters[]) {
  const double error = job->verify ? largest_error(job, field) : 0;
  if (job->output != NULL) save_npy(job, job->output, field, 0, job->nz + 2);
  if (job->slice != NULL) save_npy(job, job->slice, field, job->nz / 2 + 1, job->nz / 2 + 2);
  if (job->team.rank == 0) report(job, error, counters);
  agree(job, error <= tolerance, WRONG, "the answer is wrong: largest error %.3g, limit %.0e", error, tolerance);
  leave(job);
  void* const ours[] = {job->sine_x, job->sine_y, job->sine_z, job->plane, job->fields[0], job->fields[1]};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) free(ours[i]);
  return 0;
}
