/* A program that calls MPI itself beside Hiroba over the same MPI. Who initialises MPI is the first argument (program,
 * hiroba). Shared memory of the other node is passed to MPI calls: preloaded, which works, or with `absent` as the
 * second argument as it is, which must end with a message and not hang. */
#include <hiroba_mpi.h>
#include <string.h>

#include "programs.h"

enum { WORDS = 1 << 17 }; /* 1 MiB per rank: beyond what MPI sends at once */

static void check_order(void) {
  int rank = -1, size = -1;
  MPI_Comm_rank(hiroba_comm(), &rank);
  MPI_Comm_size(hiroba_comm(), &size);
  if (rank != sms_rank || size != sms_nprocs)
    fail("beside_mpi: rank %d of %d in hiroba_comm, %d of %d in Hiroba", rank, size, sms_rank, sms_nprocs);
}

/* Sends the neighbour's part to the neighbour, straight from shared memory and straight into it. */
static void send_shared(int64_t* words, int count, int preloaded) {
  const int right = (sms_rank + 1) % sms_nprocs, left = (sms_rank + sms_nprocs - 1) % sms_nprocs;
  int64_t* got = malloc((size_t)count * sizeof *got);
  for (int round = 1; round <= 5; ++round) {
    int64_t* own = words + (size_t)sms_rank * WORDS;
    for (int w = 0; w < count; ++w) own[w] = round * 1000000 + sms_rank * 1000 + w % 1000;
    sms_barrier();
    if (preloaded) sms_preload_bytes(words + (size_t)right * WORDS, (size_t)count * sizeof *words);
    MPI_Sendrecv(words + (size_t)right * WORDS, count, MPI_INT64_T, right, 1, got, count, MPI_INT64_T, left, 1,
                 hiroba_comm(), MPI_STATUS_IGNORE);
    for (int w = 0; w < count; ++w)
      if (got[w] != round * 1000000 + sms_rank * 1000 + w % 1000)
        fail("beside_mpi: round %d, rank %d, word %d is %ld", round, sms_rank, w, got[w]);
    sms_barrier();
  }
  free(got);
}

int main(int argc, char** argv) {
  const int ours = argc > 1 && strcmp(argv[1], "program") == 0;
  int provided;
  if (ours) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  sms_startup(&argc, &argv);
  check_order();
  int64_t* words = sms_mapalloc((int[]){sms_nprocs * WORDS, -1}, (int[]){sms_nprocs, -1}, sizeof *words, 0, sms_nprocs);
  const int preloaded = argc < 3;
  send_shared(words, 100, 1);
  send_shared(words, WORDS, preloaded);
  sms_shutdown();
  if (ours) MPI_Finalize();
  return 0;
}
