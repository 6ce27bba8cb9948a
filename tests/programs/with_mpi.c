/* A program that has started MPI before sms_startup: both must work. */
#include <mpi.h>

#include "programs.h"

enum { WORDS = 5000 };

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  sms_startup(&argc, &argv);
  int64_t* words = spread(WORDS, 1, sizeof(int64_t));
  for (int round = 1; round <= 10; ++round) {
    for (int w = sms_rank; w < WORDS; w += sms_nprocs) words[w] = round * w;
    sms_barrier();
    int64_t sum = 0;
    for (int w = 0; w < WORDS; ++w) sum += words[w];
    int64_t same = 0;
    MPI_Allreduce(&sum, &same, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    const int64_t want = (int64_t)round * WORDS * (WORDS - 1) / 2;
    if (same != want * sms_nprocs)
      fail("with_mpi: round %d, rank %d: sum %ld, expected %ld", round, sms_rank, same, want * sms_nprocs);
    sms_barrier();
  }
  sms_shutdown();
  MPI_Finalize();
  return 0;
}
