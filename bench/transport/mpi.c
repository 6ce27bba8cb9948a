/* The MPI's side of the transport benchmark: transport_MPI CASE COUNT ROUNDS [CASE COUNT ROUNDS ...], with two ranks.
 * Every case checks the data that it moved; every figure is a median over the rounds, the first of which is not
 * counted; for small messages over single round trips, as ucx_perftest's 50.0%ile: a mean is mostly what the kernel has
 * interrupted. Rank 0 prints one line of JSON at the end.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"

enum { piece = 4 << 20, piece_words = piece / 8, most_samples = 1 << 16 };

typedef struct samples {
  int count;
  double value[most_samples];
} samples;

typedef struct shape {
  size_t count;
  int rounds;
} shape;

static int rank;
static json_line line;

static void add(samples* s, double value) {
  if (s->count < most_samples) s->value[s->count++] = value;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(samples* s) {
  const int n = s->count - 1; /* the first filled caches and touched memory for the first time */
  if (n <= 0) return 0;
  qsort(s->value + 1, (size_t)n, sizeof *s->value, ascending);
  return (s->value[1 + (n - 1) / 2] + s->value[1 + n / 2]) / 2;
}

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: wrong answer in the benchmark: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void report(const char* name, double value) { json_add(&line, name, value); }

static uint64_t* words(size_t count) {
  uint64_t* a = malloc(count * sizeof *a);
  check(a != NULL, "no memory");
  for (size_t i = 0; i < count; ++i) a[i] = i;
  return a;
}

/* The word that is sent, and the time of a whole round trip. */
static void pingpong(shape c) {
  samples s = {0};
  for (int round = 0; round <= c.rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    double last = MPI_Wtime();
    for (uint64_t k = 0; k < c.count; ++k) {
      uint64_t word = k;
      if (rank == 0) {
        MPI_Send(&word, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        word = ~k;
        MPI_Recv(&word, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        word = ~k;
        MPI_Recv(&word, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
      }
      check(word == k, "messages of 8 bytes");
      const double now = MPI_Wtime();
      if (round > 0) add(&s, now - last);
      last = now;
    }
  }
  report("round trip us", 1e6 * median(&s));
}

/* `count` messages of 4 MiB at once, and a short answer. */
static void bandwidth(shape c) {
  samples s = {0};
  const size_t count = c.count * piece_words;
  uint64_t* a = words(count);
  MPI_Request* requests = malloc(c.count * sizeof *requests);
  for (int round = 0; round <= c.rounds; ++round) {
    for (size_t i = 0; i < count; ++i) a[i] = rank == 0 ? i + (uint64_t)round : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (size_t k = 0; k < c.count; ++k) {
      uint64_t* const at = a + k * piece_words;
      if (rank == 0) MPI_Isend(at, piece, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[k]);
      else MPI_Irecv(at, piece, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[k]);
    }
    MPI_Waitall((int)c.count, requests, MPI_STATUSES_IGNORE);
    char answer = 1;
    if (rank == 0) MPI_Recv(&answer, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(&answer, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    add(&s, (double)c.count * piece / (MPI_Wtime() - start));
    int good = 1;
    for (size_t i = 0; i < count; ++i) good = good && a[i] == i + (uint64_t)round;
    check(good, "messages of 4 MiB");
  }
  report("GB/s", 1e-9 * median(&s));
  free(requests);
  free(a);
}

static void empty_barrier(shape c) {
  samples s = {0};
  for (int round = 0; round <= c.rounds; ++round) {
    const double start = MPI_Wtime();
    for (size_t k = 0; k < c.count; ++k) MPI_Barrier(MPI_COMM_WORLD);
    add(&s, (MPI_Wtime() - start) / (double)c.count);
  }
  report("empty us", 1e6 * median(&s));
}

/* `count` bytes from rank 0 to rank 1, then a barrier. */
static void bytes_barrier(shape c) {
  samples s = {0};
  const size_t count = c.count / 8;
  uint64_t* a = words(count);
  for (int round = 0; round <= c.rounds; ++round) {
    for (size_t i = 0; i < count; ++i) a[i] = rank == 0 ? i + (uint64_t)round : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rank == 0) MPI_Send(a, (int)(8 * count), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(a, (int)(8 * count), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    add(&s, MPI_Wtime() - start);
    int good = 1;
    for (size_t i = 0; i < count; ++i) good = good && a[i] == i + (uint64_t)round;
    check(good, "bytes before a barrier");
  }
  report("ms", 1e3 * median(&s));
  report("bytes", 8.0 * (double)count);
  free(a);
}

static const struct {
  const char* name;
  void (*run)(shape);
} cases[] = {{"pingpong", pingpong},
             {"bandwidth", bandwidth},
             {"empty-barrier", empty_barrier},
             {"bytes-barrier", bytes_barrier}};

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(argc >= 4 && (argc - 1) % 3 == 0 && ranks == 2, "usage: mpirun -n 2 transport_MPI CASE COUNT ROUNDS ...");
  for (int i = 1; i + 2 < argc; i += 3) {
    int known = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
      if (strcmp(argv[i], cases[k].name) != 0) continue;
      known = 1;
      cases[k].run((shape){(size_t)atol(argv[i + 1]), atoi(argv[i + 2])});
    }
    check(known, "no such case");
  }
  MPI_Finalize();
  if (rank == 0) json_print(&line);
  return 0;
}
