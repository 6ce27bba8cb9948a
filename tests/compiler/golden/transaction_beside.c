#include <mpc.h>
#include <smint.h>
#include <task.h>

#include "check.h"

/* In loops that ranks share, in tasks, and in threads; on arrays of MpC and of SMint. */
shared long total[4]::[NPROCS](0,NPROCS);
#pragma SMint shared ::[NPROCS](0,NPROCS)
double field[4096];

static void note(long* where, long value) { *where += value; }

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  long mine = 0, by_threads = 0;
#pragma SMint parallel for
  for (int i = 0; i < 4096; i++) {
    field[i] = i % 8;
    if (i % 16 == 0) {
      const double value = field[i];
#pragma hiroba atomic
      {
        note(&total[i % 4], 1);
        total[1] += (long)value + 2;
      }
    }
  }
  for (int i = 0; i < 20; i++) {
#pragma hiroba task shared(mine) on(0)
    {
#pragma hiroba atomic
      {
        total[2]++;
        mine += i;
      }
    }
  }
#pragma hiroba taskwait
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
#pragma hiroba atomic
    by_threads += total[2] > 0 ? i : 0;
  }
#pragma SMint barrier
  const int end = verdict((total[0] != 256) + (total[1] != 512) + (total[2] != 20) + (by_threads != 4950) +
                          (MYPID == 0 && mine != 190));
  mpc_exit();
  return end;
}
