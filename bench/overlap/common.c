/* What is measured, and in which order: see README.md. Times are seconds; of every repetition the slowest rank's
 * counts, and all ranks begin it after a barrier that is not counted. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"

enum phase { COMM, NBCOMM, COMP, BLOCK, OVLP, OVLP_START, OVLP_COMP, OVLP_WAIT, PHASES };
static const char* const phase_names[PHASES] = {"comm", "nbcomm",     "comp",      "block",
                                                "ovlp", "ovlp_start", "ovlp_comp", "ovlp_wait"};
enum { vector_length = 1000 };

typedef struct placement {
  int cpus, computing; /* that this process may use; of them, those on which ranks of this machine compute */
  int threads;
} placement;

/* One point with one schedule, under way. */
typedef struct run {
  const library* of;
  const options* with;
  transfer t;
  enum schedule schedule;
  int n, rows;       /* the matrices: rows x n = rows x n times n x n */
  int multiplied;    /* how often the product was added to c */
  double *a, *b, *c; /* or, with --additions, c += a, vectors */
  double* first;     /* what the blocking collective has brought */
  size_t sent, received;
  double* times; /* PHASES x repetitions */
} run;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const library* of, const char* what, const char* name, long value) {
  fprintf(stderr, "overlap: rank %d: %s (%s, %ld)\n", of->rank, what, name, value);
  of->end_job(1);
}

/* In lines of the cache, so that no library computes faster because of where its malloc begins; never of no bytes. */
static void* allocate(const library* of, size_t doubles) {
  void* const memory = aligned_alloc(64, (doubles / 8 + 1) * 64);
  if (memory == NULL) fail(of, "no memory: choose a smaller M or N", "doubles", (long)doubles);
  return memory;
}

/* ---- the computation ---------------------------------------------------------------------------------------- */

#define PRAGMA(text) _Pragma(#text)
#define DO_COMP(S)                                                                                       \
  static void do_comp_##S(int n, int begin, int end, const double* restrict a, const double* restrict b, \
                          double* restrict c) {                                                          \
    PRAGMA(omp parallel for schedule(S))                                                                 \
    for (int i = begin; i < end; i++)                                                                    \
      for (int k = 0; k < n; k++)                                                                        \
        for (int j = 0; j < n; j++) c[(size_t)i * n + j] += a[(size_t)i * n + k] * b[(size_t)k * n + j]; \
  }
DO_COMP(static)
DO_COMP(dynamic)

/* The paper's program for hardware that carries collectives on: one thread adds vectors. */
static void add_vectors(int times, const double* a, double* c) {
  for (int k = 0; k < times; ++k) {
    for (int i = 0; i < vector_length; ++i) c[i] += a[i];
    __asm__ volatile("" : : "r"(c) : "memory"); /* each addition is done */
  }
}

static void compute_part(run* r, int begin, int end) {
  if (r->with->additions > 0) add_vectors(end - begin, r->a, r->c);
  else if (r->schedule == STATIC) do_comp_static(r->n, begin, end, r->a, r->b, r->c);
  else do_comp_dynamic(r->n, begin, end, r->a, r->b, r->c);
}

/* In as many parts as there are calls of `test` between them, and one more. */
static void compute(run* r, int test_calls) {
  const int all = r->with->additions > 0 ? r->with->additions : r->rows;
  const int parts = test_calls < all ? test_calls + 1 : all;
  for (int part = 0; part < parts; ++part) {
    if (part > 0) r->of->test();
    compute_part(r, (int)((long)all * part / parts), (int)((long)all * (part + 1) / parts));
  }
  ++r->multiplied;
}

/* ---- data and answers --------------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/* What a rank sends: in [1, 2), with all bits in use, so that another order of additions shows. */
static double sent_value(int rank, size_t at) {
  return 1 + (double)(mixed(((uint64_t)rank << 40) + at) >> 11) * 0x1p-53;
}

/* Elements of matrices are small whole numbers, so products are exact, in any order, with any instructions. */
static double whole(int which, size_t at) { return (double)(mixed(((uint64_t)(which + 1) << 50) + at) % 9) - 4; }

static double sum_of(int ranks, size_t at) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += sent_value(rank, at);
  return sum;
}

/* What stands at `at` of the buffer that rank `rank` receives. */
static double expected(const transfer* t, int rank, int ranks, size_t at) {
  const size_t m = (size_t)t->count, mine = (size_t)rank * m;
  switch (t->kind) {
    case ALLTOALL: return sent_value((int)(at / m), mine + at % m);
    case ALLGATHER:
    case GATHER: return sent_value((int)(at / m), at % m);
    case SCATTER: return sent_value(0, mine + at);
    case BCAST: return sent_value(0, at);
    case REDUCE_SCATTER: return sum_of(ranks, mine + at);
    case SCAN: return sum_of(rank + 1, at);
    default: return sum_of(ranks, at);
  }
}

static int moves_only(enum collective kind) {
  return kind == ALLTOALL || kind == BCAST || kind == ALLGATHER || kind == GATHER || kind == SCATTER;
}

static void set_sizes(run* r) {
  const size_t m = (size_t)r->t.count, all = m * (size_t)r->of->ranks;
  const enum collective kind = r->t.kind;
  const int root = r->of->rank == 0;
  r->sent = kind == ALLTOALL || kind == REDUCE_SCATTER || (kind == SCATTER && root) ? all : m;
  r->received = kind == ALLTOALL || kind == ALLGATHER || (kind == GATHER && root) ? all : m;
  if ((kind == GATHER || kind == REDUCE) && !root) r->received = 0;
}

/* Before a phase: whatever the collective does not bring is no number afterwards. */
static void clear_received(run* r) {
  memset(r->t.recv, 0xff, r->received * sizeof(double));
  if (r->t.kind == BCAST && r->of->rank == 0) memcpy(r->t.recv, r->t.send, r->received * sizeof(double));
}

/* Ends the job where an answer is wrong; returns whether it has the same bits as the first. */
static int check_received(run* r) {
  const size_t most = 1 << 20, work = r->received * (size_t)(moves_only(r->t.kind) ? 1 : r->of->ranks);
  const size_t step = work > most ? work / most + 1 : 1;
  const double tolerance = moves_only(r->t.kind) ? 0 : 1e-15 * r->of->ranks;
  for (size_t at = 0; at < r->received; at += step) {
    const double right = expected(&r->t, r->of->rank, r->of->ranks, at), error = r->t.recv[at] - right;
    if (!(error <= tolerance * right && -error <= tolerance * right)) {
      fail(r->of, "a collective has brought a wrong value", collective_names[r->t.kind], (long)at);
    }
  }
  return memcmp(r->t.recv, r->first, r->received * sizeof(double)) == 0;
}

/* c * weights = times * a * (b * weights), which sees every element and takes n * n steps. */
static void check_product(const run* r) {
  if (r->with->additions > 0) {
    for (int i = 0; i < vector_length; ++i) {
      if (r->c[i] != r->a[i] * r->with->additions * r->multiplied) fail(r->of, "a wrong sum of vectors", "element", i);
    }
    return;
  }
  const size_t n = (size_t)r->n;
  double* const weighted = allocate(r->of, n);
  for (size_t k = 0; k < n; ++k) {
    weighted[k] = 0;
    for (size_t j = 0; j < n; ++j) weighted[k] += r->b[k * n + j] * (double)(1 + j % 5);
  }
  for (size_t i = 0; i < (size_t)r->rows; ++i) {
    double right = 0, found = 0;
    for (size_t k = 0; k < n; ++k) right += r->a[i * n + k] * weighted[k];
    for (size_t j = 0; j < n; ++j) found += r->c[i * n + j] * (double)(1 + j % 5);
    if (found != right * r->multiplied) fail(r->of, "the matrix product is wrong", "row", (long)i);
  }
  free(weighted);
}

/* n, rows, how often the product was added; then the matrices: for a check by another program (check_dgemm.py). */
static void write_matrices(const run* r) {
  FILE* const file = fopen(r->with->matrices, "wb");
  const int32_t head[] = {r->n, r->rows, r->multiplied};
  const size_t square = (size_t)r->n * (size_t)r->n, part = (size_t)r->rows * (size_t)r->n;
  const int good =
      file != NULL && fwrite(head, sizeof head, 1, file) == 1 && fwrite(r->a, sizeof(double), part, file) == part &&
      fwrite(r->b, sizeof(double), square, file) == square && fwrite(r->c, sizeof(double), part, file) == part;
  if (file == NULL || fclose(file) != 0 || !good)
    fail(r->of, "cannot write the file of --matrices", strerror(errno), errno);
}

/* Each thread is the first to touch its rows, as in do_comp_static. */
static void prepare(run* r) {
  const size_t n = (size_t)r->n, rows = (size_t)r->rows;
  set_sizes(r);
  r->t.send = allocate(r->of, r->sent);
  r->t.recv = allocate(r->of, r->received);
  r->first = allocate(r->of, r->received);
  for (size_t at = 0; at < r->sent; ++at) r->t.send[at] = sent_value(r->of->rank, at);
  r->times = allocate(r->of, (size_t)PHASES * (size_t)r->with->repetitions);
  const size_t vector = r->with->additions > 0 ? vector_length : 0;
  r->a = allocate(r->of, rows * n + vector);
  r->b = allocate(r->of, n * n);
  r->c = allocate(r->of, rows * n + vector);
  for (size_t i = 0; i < vector; ++i) r->a[i] = whole(0, i), r->c[i] = 0;
  if (vector > 0) return;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < n; ++k) {
      r->a[i * n + k] = whole(r->of->rank + 1, i * n + k);
      r->c[i * n + k] = 0;
    }
  }
  for (size_t at = 0; at < n * n; ++at) r->b[at] = whole(0, at);
}

static void release(run* r) {
  double* const all[] = {r->t.send, r->t.recv, r->first, r->times, r->a, r->b, r->c};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
}

/* ---- the five times ----------------------------------------------------------------------------------------- */

static double lap(double* since) {
  const double then = *since;
  *since = now();
  return *since - then;
}

/* One repetition of a phase; `times` are this repetition's of all phases, `stride` apart. */
static void repeat(run* r, enum phase phase, double* times, size_t stride) {
  const transfer none = {.kind = BARRIER};
  r->of->call(&none);
  const double begin = now();
  double at = begin;
  switch (phase) {
    case COMM: r->of->call(&r->t); break;
    case NBCOMM:
      r->of->start(&r->t);
      r->of->wait();
      break;
    case COMP: compute(r, 0); break;
    case BLOCK:
      r->of->call(&r->t);
      compute(r, 0);
      break;
    default:
      r->of->start(&r->t);
      times[OVLP_START * stride] = lap(&at);
      if (r->with->region) r->of->region(1);
      compute(r, r->with->test_calls);
      if (r->with->region) r->of->region(0);
      times[OVLP_COMP * stride] = lap(&at);
      r->of->wait();
      times[OVLP_WAIT * stride] = lap(&at);
  }
  times[phase * stride] = now() - begin;
}

/* Returns whether all collectives brought the same bits at this rank. */
static int measure(run* r) {
  const size_t stride = (size_t)r->with->repetitions;
  int same = 1;
  for (enum phase phase = COMM; phase <= OVLP; ++phase) {
    clear_received(r);
    for (int k = 0; k < r->with->warm_up; ++k) repeat(r, phase, r->times, stride);
    for (size_t k = 0; k < stride; ++k) repeat(r, phase, r->times + k, stride);
    if (phase == COMM) memcpy(r->first, r->t.recv, r->received * sizeof(double));
    if (phase != COMP) same &= check_received(r);
  }
  check_product(r);
  return same;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double square_root(double x) { /* no libm needed */
  double root = x > 0 ? x : 0, last = 0;
  for (int k = 0; k < 200 && root != last; ++k) last = root, root = (root + x / root) / 2;
  return root;
}

static void print_statistics(const char* name, double* values, int count) {
  double sum = 0, squares = 0;
  for (int k = 0; k < count; ++k) sum += values[k];
  const double mean = sum / count;
  for (int k = 0; k < count; ++k) squares += (values[k] - mean) * (values[k] - mean);
  qsort(values, (size_t)count, sizeof *values, ascending);
  const double median = (values[(count - 1) / 2] + values[count / 2]) / 2;
  printf(", \"%s\": {\"mean\": %.9g, \"sd\": %.3g, \"min\": %.9g", name, mean,
         count > 1 ? square_root(squares / (count - 1)) : 0, values[0]);
  printf(", \"q1\": %.9g, \"median\": %.9g, \"q3\": %.9g, \"max\": %.9g}", values[(count - 1) / 4], median,
         values[count - 1 - (count - 1) / 4], values[count - 1]);
}

/* The first words of the library's name, of which some are whole pages. */
static void print_name(const char* name) {
  printf("{\"library\": \"");
  for (const char* c = name; *c != '\0' && *c != ',' && *c != '\n'; ++c)
    putchar(*c < ' ' || strchr("\"\\", *c) ? ' ' : *c);
  printf("\"");
}

static void report(const run* r, const placement* at, int same) {
  print_name(r->of->name);
  printf(", \"collective\": \"%s\", \"m\": %d, \"n\": %d", collective_names[r->t.kind], r->t.count, r->n);
  printf(", \"bytes\": %zu, \"schedule\": \"%s\"", (size_t)r->t.count * sizeof(double), schedule_names[r->schedule]);
  printf(", \"ranks\": %d, \"per_machine\": %d, \"threads\": %d", r->of->ranks, r->of->local_ranks, at->threads);
  printf(", \"placement\": \"%s\", \"bound\": %s", r->with->spare ? "spare" : "full",
         r->with->bound ? "true" : "false");
  printf(", \"cpus\": %d, \"computing_cpus\": %d", at->cpus, at->computing);
  printf(", \"repetitions\": %d, \"test_calls\": %d", r->with->repetitions, r->with->test_calls);
  printf(", \"additions\": %d, \"region\": %s", r->with->additions, r->with->region ? "true" : "false");
  printf(", \"same_bits\": %s", same ? "true" : "false");
  for (enum phase phase = COMM; phase < PHASES; ++phase) {
    print_statistics(phase_names[phase], r->times + (size_t)phase * (size_t)r->with->repetitions, r->with->repetitions);
  }
  printf("}\n");
  fflush(stdout);
}

static void run_point(const library* of, const options* with, const placement* at, point p, enum schedule schedule) {
  run r = {.of = of, .with = with, .schedule = schedule, .n = p.n, .rows = p.n / of->ranks};
  r.t.kind = p.kind;
  r.t.count = p.kind == BARRIER ? 0 : p.m;
  if (with->additions > 0) r.n = r.rows = 0;
  prepare(&r);
  double differ = measure(&r) ? 0 : 1;
  of->largest(&differ, 1);
  of->largest(r.times, PHASES * with->repetitions);
  if (of->rank == 0) report(&r, at, differ == 0);
  if (of->rank == 0 && with->matrices != NULL) write_matrices(&r);
  release(&r);
}

/* ---- threads on CPUs ---------------------------------------------------------------------------------------- */

/* Chooses the threads of this rank and binds them. What the library has started before keeps all CPUs of the process,
 * so in placement spare it finds one that does not compute. Where a machine has fewer than two CPUs per rank, its ranks
 * compute on all but one together. */
static placement place(const library* of, int spare, int bound) {
  cpu_set_t set;
  int cpus[CPU_SETSIZE], count = 0;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    fail(of, "cannot read the CPUs of the process", strerror(errno), errno);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus[count++] = cpu;
  }
  const int share = count / of->local_ranks, together = share < 2;
  const int usable = spare && together && count > 1 ? count - 1 : count;
  placement at = {.cpus = count, .threads = share - spare > 0 ? share - spare : 1};
  const int begin = of->local_rank * (together ? 1 : share);
  at.computing = of->local_ranks * at.threads < usable ? of->local_ranks * at.threads : usable;
  omp_set_dynamic(0);
  omp_set_num_threads(at.threads);
  if (!bound) return at;
#pragma omp parallel
  {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus[(begin + omp_get_thread_num()) % usable], &one);
    sched_setaffinity(0, sizeof one, &one); /* a system that does not allow it places the thread itself */
  }
  return at;
}

int overlap(int argc, char** argv, const library* of) {
  options with;
  const int status = read_options(argc, argv, of, &with);
  if (status != 0) return status < 0 ? 0 : status;
  const placement at = place(of, with.spare, with.bound);
  if (with.region) of->region(0);
  for (int i = 0; i < with.count; ++i) {
    for (enum schedule schedule = STATIC; schedule < SCHEDULES; ++schedule) {
      if (with.schedules[schedule]) run_point(of, &with, &at, with.points[i], schedule);
    }
  }
  return 0;
}
