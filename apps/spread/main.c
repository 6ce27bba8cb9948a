/* Runs the same kernels on every device of each rank, and prints a line of JSON for each: what `hiroba power spread`
 * (run.py) makes its table of.
 *
 *   hirobarun -n 1 --power --devices host:2 spread REPEAT SECONDS N MEBIBYTES
 *
 * A repetition does as much work on a device as takes about SECONDS, in the same steps each time. Products are of N x N
 * matrices; a copy is of MEBIBYTES to the device and back in 8 pieces, on two streams, with a kernel in between. Host
 * devices take turns, so that each has the processor for itself. */
#include <collective.h>
#include <math.h>
#include <power.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "kernels.h"

enum { PIECES = 8 };

typedef struct {
  int device;
  int64_t n, bytes; /* of a piece */
  double *a, *b, *c;
  hiroba_stream streams[2];
} work;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void multiply(const work* w, const hiroba_kernel* kernel) {
  const size_t bytes = (size_t)(w->n * w->n) * sizeof(double);
  const hiroba_access uses[] = {{.mode = HIROBA_IN, .section = hiroba_bytes(w->a, bytes)},
                                {.mode = HIROBA_IN, .section = hiroba_bytes(w->b, bytes)},
                                {.mode = HIROBA_OUT, .section = hiroba_bytes(w->c, bytes)}};
  const product_size size = {w->n};
  hiroba_device_launch(kernel, w->streams[0], uses, 3, &size, sizeof size);
  hiroba_stream_wait(w->streams[0]);
}
static void product(const work* w) { multiply(w, &product_kernel); }
static void library(const work* w) { multiply(w, &library_kernel); }

/* Pieces are written anew each time, or a preload would find them unchanged. */
static void copy(const work* w) {
  for (int p = 0; p < PIECES; ++p) {
    const int64_t count = w->bytes / (int64_t)sizeof(double);
    const hiroba_section in = hiroba_bytes(w->a + p * count, (size_t)w->bytes);
    const hiroba_section out = hiroba_bytes(w->c + p * count, (size_t)w->bytes);
    const hiroba_access uses[] = {{.mode = HIROBA_IN, .section = in}, {.mode = HIROBA_INOUT, .section = out}};
    const update_size size = {count, 4};
    const hiroba_stream stream = w->streams[p % 2];
    hiroba_device_drop(&in, stream);
    hiroba_device_preload(&in, stream, NULL);
    hiroba_device_preload(&out, stream, NULL);
    hiroba_device_launch(&update_kernel, stream, uses, 2, &size, sizeof size);
    hiroba_device_overload(&out, stream, NULL);
  }
  for (int s = 0; s < 2; ++s) hiroba_stream_wait(w->streams[s]);
}

/* The number of steps that take about so long. */
static int64_t steps_for(const work* w, void (*step)(const work*), double seconds) {
  step(w); /* finds, loads and places what it needs */
  int64_t steps = 1;
  for (;;) {
    const double begin = now();
    for (int64_t i = 0; i < steps; ++i) step(w);
    const double took = now() - begin;
    if (took >= seconds / 4) return (int64_t)fmax(1, round((double)steps * seconds / took));
    steps *= 2;
  }
}

static void print_numbers(const char* name, const double* values, int count) {
  printf("\"%s\": [", name);
  for (int i = 0; i < count; ++i) printf("%s%.9g", i == 0 ? "" : ", ", values[i]);
  printf("]");
}

static void print_head(const work* w, const char* kernel) {
  struct utsname machine;
  hiroba_device_properties device;
  uname(&machine);
  hiroba_device_get(w->device, &device);
  printf(
      "{\"host\": \"%s\", \"node\": %d, \"kind\": \"%s\", \"number\": %d, \"device\": \"%s\", \"link\": \"%s\", "
      "\"kernel\": \"%s\", ",
      machine.nodename, sms_node, device.kind == HIROBA_DEVICE_HOST ? "host" : "cuda", device.number, device.name,
      device.link, kernel);
}

/* Seconds and joules are those of a step. */
static void measure(const work* w, const char* kernel, void (*step)(const work*), int repeat, double seconds) {
  double* const took = malloc(sizeof(double) * (size_t)repeat);
  double* const joules = malloc(sizeof(double) * (size_t)repeat);
  const int64_t steps = steps_for(w, step, seconds);
  const char* why = NULL;
  for (int r = 0; r < repeat; ++r) {
    const double before = hiroba_energy_of_device(w->device, &why), begin = now();
    for (int64_t i = 0; i < steps; ++i) step(w);
    took[r] = (now() - begin) / (double)steps;
    joules[r] = (hiroba_energy_of_device(w->device, &why) - before) / (double)steps;
    if (why == NULL && !(joules[r] > 0)) why = "its counter has not changed in a repetition: give more --seconds";
  }
  print_head(w, kernel);
  print_numbers("seconds", took, repeat);
  if (why == NULL) printf(", "), print_numbers("joules", joules, repeat);
  else printf(", \"unknown\": \"%s\"", why);
  printf(", \"steps\": %ld}\n", (long)steps);
  fflush(stdout);
  free(took), free(joules);
}

static void measure_all(int device, int64_t n, int64_t bytes, int repeat, double seconds) {
  const size_t elements = (size_t)(n * n > bytes / 8 * PIECES ? n * n : bytes / 8 * PIECES);
  work w = {device, n, bytes, malloc(elements * 8), malloc(elements * 8), malloc(elements * 8), {NULL, NULL}};
  for (size_t i = 0; i < elements; ++i) w.a[i] = (double)(i % 7), w.b[i] = (double)(i % 5), w.c[i] = 0;
  for (int s = 0; s < 2; ++s) w.streams[s] = hiroba_stream_create(device);
  const size_t square = (size_t)(n * n) * sizeof(double);
  const hiroba_section a = hiroba_bytes(w.a, square), b = hiroba_bytes(w.b, square), c = hiroba_bytes(w.c, square);
  hiroba_device_preload(&a, w.streams[0], NULL);
  hiroba_device_preload(&b, w.streams[0], NULL);
  hiroba_device_preload(&c, w.streams[0], NULL);
  measure(&w, "product", product, repeat, seconds);
  const char* name = "";
  const char* const none = find_library(&name);
  if (none == NULL) measure(&w, "library product", library, repeat, seconds);
  else print_head(&w, "library product"), printf("\"not run\": \"%s\"}\n", none);
  hiroba_device_overload(&c, w.streams[0], NULL);
  hiroba_stream_wait(w.streams[0]);
  hiroba_device_drop(&a, w.streams[0]);
  hiroba_device_drop(&b, w.streams[0]);
  hiroba_device_drop(&c, w.streams[0]);
  measure(&w, "copy with overlap", copy, repeat, seconds);
  for (int s = 0; s < 2; ++s) hiroba_stream_free(&w.streams[s]);
  free(w.a), free(w.b), free(w.c);
}

/* Ranks of one machine share its counters and its processor, so they take turns; machines do not wait for others. */
static hiroba_team team_of_machine(void) {
  enum { LETTERS = sizeof(((struct utsname*)0)->nodename) };
  struct utsname machine;
  char* const names = malloc((size_t)sms_nprocs * LETTERS);
  int first = 0;
  hiroba_team team;
  memset(&machine, 0, sizeof machine);
  uname(&machine);
  hiroba_allgather(machine.nodename, names, LETTERS, HIROBA_CHAR, HIROBA_ALL);
  while (strcmp(names + (size_t)first * LETTERS, machine.nodename) != 0) ++first;
  hiroba_team_split(HIROBA_ALL, first, sms_rank, &team);
  free(names);
  return team;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (argc != 5) sms_abort(2, "usage: spread REPEAT SECONDS N MEBIBYTES; `hiroba power spread --help` says more");
  const int repeat = atoi(argv[1]), mebibytes = atoi(argv[4]);
  const double seconds = atof(argv[2]);
  const int64_t n = atol(argv[3]);
  if (repeat < 1 || !(seconds > 0) || n < 1 || n > 32768 || mebibytes < 1 || mebibytes > 65536)
    sms_abort(2, "spread: REPEAT, SECONDS, N (at most 32768) and MEBIBYTES (at most 65536) are numbers above 0");
  if (hiroba_device_count() == 0) sms_abort(1, "spread: no device; give --devices host:1, or a number of GPUs");
  hiroba_team machine = team_of_machine();
  for (int r = 0; r < hiroba_team_size(machine); ++r) {
    hiroba_barrier(machine);
    for (int d = 0; d < hiroba_device_count() && r == hiroba_team_rank(machine); ++d)
      measure_all(d, n, (int64_t)mebibytes * 1048576 / PIECES, repeat, seconds);
  }
  hiroba_team_free(&machine);
  sms_shutdown();
  return 0;
}
