// Sums of one number over all ranks, again and again: ranks wait for each other all the time. crowded.py runs it beside
// processes that compute. With `turns` each rank prints the length of its turns in nanoseconds; 0: the kernel's.
#include <hiroba/collective.h>
#include <sms.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void print_turns(void) {
  struct {  // sched_attr of the kernel
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } has = {0};
  syscall(SYS_sched_getattr, 0, &has, sizeof has, 0);
  printf("%llu\n", (unsigned long long)has.runtime);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (strcmp(argv[1], "turns") == 0) print_turns();
  const int times = atoi(argv[1]);
  for (int i = 0; i < times; ++i) {
    const double mine = i + sms_rank;
    double sum = 0;
    hiroba_allreduce(&mine, &sum, 1, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL);
    const double expected = (double)sms_nprocs * i + 0.5 * sms_nprocs * (sms_nprocs - 1);
    if (sum == expected) continue;
    fprintf(stderr, "rank %d: sum %d is %g, not %g\n", sms_rank, i, sum, expected);
    return 1;
  }
  sms_shutdown();
  return 0;
}
