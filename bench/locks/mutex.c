/* The rival on one node: processes that add to 8 bytes in shared memory under a pthread mutex: bench_mutex [TURNS]. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../apps/common/clock.h"

enum { PROCESSES = 2 };

struct shared {
  pthread_mutex_t mutex;
  _Alignas(64) int64_t counter;
  atomic_int arrived; /* twice */
};

/* Spins: a process that is woken up late would have the mutex for itself. */
static void meet(struct shared* s, int time) {
  atomic_fetch_add(&s->arrived, 1);
  while (atomic_load(&s->arrived) < time * PROCESSES) continue;
}

int main(int argc, char** argv) {
  const int turns = argc > 1 ? atoi(argv[1]) : 10000;
  struct shared* const s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) return 2;
  pthread_mutexattr_t of_mutex;
  pthread_mutexattr_init(&of_mutex);
  pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&s->mutex, &of_mutex);
  const int child = fork() == 0;
  meet(s, 1);
  const double start = now();
  for (int i = 0; i < turns; ++i) {
    pthread_mutex_lock(&s->mutex);
    ++s->counter;
    pthread_mutex_unlock(&s->mutex);
  }
  meet(s, 2);
  const double seconds = now() - start;
  if (child) _exit(0);
  wait(NULL);
  if (s->counter != (int64_t)PROCESSES * turns) return 1;
  printf("{\"microseconds\": %.4f}\n", 1e6 * seconds / turns / PROCESSES);
  return 0;
}
