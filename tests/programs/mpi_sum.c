/* A program of sms.h that also calls MPI, started by hirobarun without a word of MPI: MPI must see all ranks, or its
 * sums are wrong. With the argument `single` it asks MPI for no threads, which is refused. */
#include <mpi.h>
#include <sms.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int provided = 0;
  if (argc > 1) MPI_Init(&argc, &argv);
  else MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  sms_startup(&argc, &argv);
  int size = 0, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&(int){sms_rank + 1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (size != sms_nprocs || sum != sms_nprocs * (sms_nprocs + 1) / 2) sms_abort(1, "MPI sees another world");
  int* shared = sms_alloc(sizeof *shared, 1, 0);
  if (sms_rank == sms_nprocs - 1) *shared = sum;
  sms_barrier();
  if (*shared != sum) sms_abort(1, "wrong value in shared memory");
  if (sms_rank == 0) printf("sum %d\n", sum);
  sms_shutdown();
  MPI_Finalize();
  return 0;
}
