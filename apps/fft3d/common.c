/* What the variants of fft3d share: options, input, check, report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"
#include "fft3d.h"

static const double pi = 3.14159265358979323846;

static const option options[] = {
    {"--size", "N", "numbers in each dimension (default 64)", OPTION_NUMBER,
     offsetof(fft3d, run) + offsetof(tiled, size)},
    {"--plan", "HOW", "estimate (default) or measure: how FFTW plans, before the clock runs", OPTION_TEXT,
     offsetof(fft3d, plan)},
    TILED_OPTIONS(fft3d, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const fft3d* f) {
  printf(
      "%s: the Fourier transform of a cube of complex numbers; each step transforms the same cube\n\n"
      "--verify compares each number of the transform with its closed form.\n\n",
      f->run.team.program);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  fft3d_serial --size 64 --verify\n"
      "  OMP_NUM_THREADS=2 fft3d_omp --size 128 --verify\n"
      "  mpirun -n 2 fft3d_mpi --size 128 --plan measure --verify\n"
      "  hirobarun -n 2 --nodes 2 fft3d_hiroba --size 128 --verify\n");
}

void fft3d_begin(fft3d* f, team team, int threads, int argc, char** argv) {
  enum { MOST = 4096 };
  memset(f, 0, sizeof *f);
  f->run.team = team;
  f->run.threads = threads;
  f->run.size = 64;
  f->run.steps = 10;
  f->plan = "estimate";
  options_read(&team, options, OPTIONS, f, argc, argv);
  if (f->run.help) {
    if (team.rank == 0) print_help(f);
    team_leave(&team);
    exit(0);
  }
  const bool measure = strcmp(f->plan, "measure") == 0;
  team_agree(&team, measure || strcmp(f->plan, "estimate") == 0, TEAM_BAD_INPUT,
             "--plan '%s' is not estimate or measure", f->plan);
  team_agree(&team, f->run.size <= MOST, TEAM_BAD_INPUT, "--size %d is more than %d", f->run.size, MOST);
  if (f->run.json != NULL && strcmp(f->run.json, "-") != 0) files_check_writable(&team, "--json", f->run.json);
  f->flags = measure ? FFTW_MEASURE : FFTW_ESTIMATE;
  const double numbers = (double)f->run.size * f->run.size * f->run.size;
  memory_check(&team, 3 * sizeof(fftw_complex) * numbers / team.count, team.program);
  f->run.run.unit = "flop";
  f->run.run.work = 5 * numbers * log2(numbers > 1 ? numbers : 2); /* as FFTW's authors count */
}

fftw_complex* fft3d_memory(const fft3d* f, size_t numbers) {
  fftw_complex* const memory = memory_pages(numbers * sizeof *memory);
  team_agree(&f->run.team, memory != NULL, TEAM_BAD_INPUT, "no memory for %d^3 numbers; use a smaller --size",
             f->run.size);
  return memory;
}

/* ---- the input and its transform --------------------------------------------------------------------------------- */

/* Of dimension d (x, y, z): its numbers are the powers of this one, no two of them alike. */
static double complex ratio(const fft3d* f, int d) {
  static const double turns[] = {0.2137, 0.3719, 0.0911};
  return (1 - (d + 1) * 0.5 / (f->run.size + 2)) * cexp(I * 2 * pi * turns[d]);
}

static double complex* powers(const fft3d* f, int d) {
  double complex* const out = malloc((size_t)f->run.size * sizeof *out);
  if (out == NULL) abort();
  for (int i = 0; i < f->run.size; i++) out[i] = cpow(ratio(f, d), i);
  return out;
}

void fft3d_fill(const fft3d* f, fftw_complex* plane, int z) {
  const int n = f->run.size;
  double complex *const x = powers(f, 0), *const y = powers(f, 1);
  const double complex at_z = cpow(ratio(f, 2), z);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) plane[(size_t)j * (size_t)n + (size_t)i] = at_z * y[j] * x[i];
  free(x);
  free(y);
}

/* The transform of the powers of r: sum over j of (r w^k)^j, w the n-th root of one. */
static double complex* series(const fft3d* f, int d) {
  const int n = f->run.size;
  const double complex r = ratio(f, d), end = 1 - cpow(r, n);
  double complex* const out = malloc((size_t)n * sizeof *out);
  if (out == NULL) abort();
  for (int k = 0; k < n; k++) out[k] = end / (1 - r * cexp(-2 * pi * I * k / n));
  return out;
}

typedef struct spectrum {
  double complex *x, *y, *z; /* the transform is a product of these */
} spectrum;

/* Of row `row` of plane `plane` of this rank, without the factor of x. */
static double complex of_row(const fft3d* f, const spectrum* s, int plane, int row) {
  return f->of_y ? s->y[f->first + plane] * s->z[row] : s->z[f->first + plane] * s->y[row];
}

static double root_of_mean_square(const fft3d* f, const spectrum* s) {
  double square = 0;
  const int n = f->run.size;
  for (int p = 0; p < f->count; p++)
    for (int row = 0; row < n; row++)
      for (int i = 0; i < n; i++) square += pow(cabs(of_row(f, s, p, row) * s->x[i]), 2);
  return sqrt(team_sum(&f->run.team, square) / n / n / n);
}

/* The largest difference from the closed form, as part of the number and of the root of the mean square. */
static double largest_error(const fft3d* f) {
  const int n = f->run.size;
  const spectrum s = {series(f, 0), series(f, 1), series(f, 2)};
  const double usual = root_of_mean_square(f, &s);
  double worst = 0;
  for (int p = 0; p < f->count; p++)
    for (int row = 0; row < n; row++) {
      const fftw_complex* const found = f->output + (size_t)p * f->pitch + (size_t)row * (size_t)n;
      for (int i = 0; i < n; i++) {
        const double complex expected = of_row(f, &s, p, row) * s.x[i];
        const double e = cabs(found[i] - expected) / (cabs(expected) + usual);
        worst = isfinite(e) ? fmax(worst, e) : INFINITY;
      }
    }
  free(s.x);
  free(s.y);
  free(s.z);
  return team_sum(&f->run.team, f->count) == n ? team_max(&f->run.team, worst) : INFINITY;
}

int fft3d_run(fft3d* f, tiled_steps steps) {
  static const char* const categories[] = {"planes", "move", "columns", NULL};
  if (!tiled_run(&f->run, categories, steps, f)) return tiled_stopped(&f->run);
  tiled_answer answer = {.limit = 1e-12, .name = "largest error"};
  if (f->run.verify) answer.error = largest_error(f);
  return tiled_finish(&f->run, &answer);
}
