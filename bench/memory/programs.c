/* Cases that are small programs: triad, an empty barrier, Jacobi. */
#include <math.h>
#include <sched.h>
#include <sms.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static double triad_seconds(double* a, const double* b, const double* c, size_t n) {
  const double start = now();
  for (size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
  return now() - start;
}

/* A plain memory file, as any shared mapping is, without Hiroba. */
static double* memory_file(size_t bytes) {
  const int file = memfd_create("triad", 0);
  void* const at = file < 0 || ftruncate(file, (off_t)bytes) != 0
                       ? MAP_FAILED
                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  check(at != MAP_FAILED, "triad: no memory file");
  close(file);
  return at;
}

void triad(parameters p) {
  enum { plain, file, shared, kinds };
  const size_t n = p.bytes / sizeof(double);
  const char* const option = getenv("HIROBA_HUGE");
  const int huge = option == NULL || strcmp(option, "no") != 0; /* alike for shared and malloc'ed memory */
  double* arrays[kinds][3];
  for (int k = 0; k < 3; ++k) {
    arrays[shared][k] = sms_alloc(sizeof(double), n, 0);
    arrays[plain][k] = malloc(p.bytes);
    check(arrays[plain][k] != NULL, "triad: no memory");
    char* const first = (char*)arrays[plain][k] - (size_t)arrays[plain][k] % page_bytes;
    madvise(first, p.bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    arrays[file][k] = memory_file(p.bytes);
  }
  for (int kind = 0; kind < kinds; ++kind)
    for (int k = 0; k < 3; ++k)
      for (size_t i = 0; i < n; ++i) arrays[kind][k][i] = k == 0 ? 0.0 : (double)i;
  sms_barrier();
  sms_barrier(); /* from here on shared memory is in huge pages, if it may be */
  samples s[kinds] = {{0, {0}}};
  for (int round = 0; round <= p.rounds; ++round)
    for (int turn = 0; turn < kinds; ++turn) {
      const int kind = (turn + round) % kinds;
      const double seconds = triad_seconds(arrays[kind][0], arrays[kind][1], arrays[kind][2], n);
      if (round > 0) add(&s[kind], seconds);
    }
  for (size_t i = 0; i < n; i += 1001)
    for (int kind = 0; kind < kinds; ++kind) check(arrays[kind][0][i] == 4.0 * (double)i, "triad: wrong data");
  report("GB/s", 3 * (double)p.bytes / median(&s[shared]) / 1e9);
  report("malloc GB/s", 3 * (double)p.bytes / median(&s[plain]) / 1e9);
  report("ratio", median(&s[plain]) / median(&s[shared]));
  report("plain memory file / malloc", median(&s[plain]) / median(&s[file]));
  for (int k = 0; k < 3; ++k) {
    free(arrays[plain][k]);
    munmap(arrays[file][k], p.bytes);
  }
}

/* What two processes need at least to meet: each sets a flag that the other waits for. Measured by rank 0 with a child.
 */
static double raw_exchange_seconds(int times) {
  _Atomic int* flag = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t child = fork();
  const int self = child == 0;
  double start = now();
  for (int i = 1; i <= 2 * times; ++i) {
    if (i == times + 1) start = now(); /* by now the two have found a core each */
    atomic_store(&flag[64 * self], i);
    while (atomic_load(&flag[64 * !self]) < i) {
    }
  }
  const double seconds = (now() - start) / times;
  if (self) _exit(0);
  waitpid(child, NULL, 0);
  munmap(flag, page_bytes);
  return seconds;
}

void barrier_empty(parameters p) {
  enum { times = 2000 };
  samples s = {0, {0}}, rival = {0, {0}};
  for (int round = 0; round <= p.rounds; ++round) {
    sms_barrier();
    double start = now();
    for (int i = 0; i < times; ++i) sms_barrier();
    if (round > 0) add(&s, (now() - start) / times);
    sms_barrier();
    usleep(sms_rank == sms_nprocs - 1 ? 0 : 30000); /* the cores are free for the pair: the others sleep */
    if (sms_rank == sms_nprocs - 1) add(&rival, raw_exchange_seconds(times));
  }
  report("microseconds", 1e6 * median(&s));
  report("raw exchange microseconds", 1e6 * median(&rival));
}

void jacobi(parameters p) {
  enum { n = 1024, steps = 200 };
  (void)p;
  const int dim[] = {n, n, -1}, div[] = {sms_nprocs, 1, -1};
  double(*u)[n] = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  double(*v)[n] = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  size_t first[8], length[8];
  sms_local_box(u, sms_rank, first, length);
  const size_t begin = first[0] > 0 ? first[0] : 1, end = first[0] + length[0] < n ? first[0] + length[0] : n - 1;
  const double k = M_PI / (n - 1);
  samples s = {0, {0}};
  for (int round = 0; round < p.rounds; ++round) {
    for (size_t i = first[0]; i < first[0] + length[0]; ++i)
      for (size_t j = 0; j < n; ++j)
        u[i][j] = v[i][j] =
            i == 0 || j == 0 || i == n - 1 || j == n - 1 ? 0.0 : sin(k * (double)i) * sin(2 * k * (double)j);
    sms_barrier();
    const double start = now();
    for (int t = 0; t < steps; ++t) {
      double(*from)[n] = t % 2 == 0 ? u : v;
      double(*to)[n] = t % 2 == 0 ? v : u;
      for (size_t i = begin; i < end; ++i)
        for (size_t j = 1; j < n - 1; ++j)
          to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
      sms_barrier();
    }
    add(&s, now() - start);
    const double decay = pow((cos(k) + cos(2 * k)) / 2, steps);
    for (size_t i = begin; i < end; i += 17)
      for (size_t j = 1; j < n - 1; j += 13)
        check(fabs(u[i][j] - decay * sin(k * (double)i) * sin(2 * k * (double)j)) < 1e-12, "jacobi: wrong answer");
    sms_barrier();
  }
  report("Mupd/s", 1e-6 * (n - 2.0) * (n - 2.0) * steps / median(&s));
}
