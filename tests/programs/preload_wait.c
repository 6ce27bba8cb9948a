/* sms_preload_wait(&r) waits for r, and not for what else is on its way: rank 0 asks rank 2, which stands still for a
 * second, and then rank 1. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs.h"

enum { WORDS = 1 << 16 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void stand_still(void) {
  const pid_t self = getpid(), child = fork();
  if (child == 0) {
    usleep(1000000);
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  waitpid(child, NULL, 0);
}

static void check(const int64_t* words, int rank) {
  for (int w = 0; w < WORDS; ++w)
    if (words[w] != rank * WORDS + w) fail("preload_wait: word %d of rank %d is %ld", w, rank, (long)words[w]);
}

static void ask(int64_t* words) {
  const sms_range of[] = {{0, WORDS, 1}, {WORDS, WORDS, 1}, {2 * WORDS, WORDS, 1}};
  usleep(300000); /* until rank 2 stands still */
  const double begin = now();
  sms_request slow = sms_preload_start(words, &of[2]), fast = sms_preload_start(words, &of[1]);
  sms_preload_wait(&fast);
  const double fast_end = now() - begin;
  check(words + WORDS, 1);
  sms_preload_wait(&slow);
  const double slow_end = now() - begin;
  check(words + 2 * WORDS, 2);
  if (slow_end < 0.4) fail("preload_wait: rank 2 did not stand still (%g s)", slow_end);
  if (fast_end > slow_end / 2) fail("preload_wait: the wait for rank 1 took %g s of %g", fast_end, slow_end);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int64_t* words = sms_mapalloc((int[]){3 * WORDS, -1}, (int[]){3, -1}, sizeof *words, 0, 3);
  for (int w = 0; w < WORDS; ++w) words[sms_rank * WORDS + w] = sms_rank * WORDS + w;
  sms_barrier();
  if (sms_rank == 0) ask(words);
  if (sms_rank == 2) stand_still();
  sms_barrier();
  sms_shutdown();
  return 0;
}
