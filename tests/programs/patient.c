/* A job that computes until its input ends, and then says whether its memory is as it has left it. Rank 0 says
 * "running", its process and the address of an array. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "programs.h"

enum { WORDS = 4096 };

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  uint64_t* const words = spread(sms_nprocs, WORDS, sizeof *words);
  for (int i = 0; i < WORDS; i++)
    if (sms_rank == 0) words[i] = (uint64_t)i;
  sms_barrier();
  if (sms_rank == 0) printf("running %d %p\n", (int)getpid(), (void*)words), fflush(stdout);
  if (sms_rank == 0) getchar();
  sms_barrier();
  uint64_t wrong = 0;
  for (int i = 0; i < WORDS; i++) wrong += words[i] != (uint64_t)i;
  sms_barrier();
  if (sms_rank == 0) puts(wrong == 0 ? "right" : "wrong");
  sms_shutdown();
  return 0;
}
