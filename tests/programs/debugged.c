/* A rank, the last one, that crashes or ends the job by a message, as the argument says; without one, nothing happens.
 * For debug.py, which looks where gdb finds it. */
#include <string.h>

#include "programs.h"

static double* numbers;

__attribute__((noinline)) static void go_wrong(const char* how) {
  volatile double* const at = numbers;
  if (strcmp(how, "past") == 0) at[5000] = 1;
  if (strcmp(how, "null") == 0) *(volatile int*)0 = 1;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "message") == 0) sms_preload_bytes(numbers, 1 << 20);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  numbers = sms_alloc(8, 100, 0);
  sms_barrier();
  if (argc > 1 && sms_rank == sms_nprocs - 1) go_wrong(argv[1]);
  sms_barrier();
  if (sms_rank == 0) puts("done");
  sms_shutdown();
  return 0;
}
