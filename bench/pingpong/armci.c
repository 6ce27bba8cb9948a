/* ARMCI, as the paper's second layer: here ARMCI-MPI. A put is at the target after ARMCI_Fence. */
#include <armci.h>
#include <mpi.h>
#include <stdlib.h>

#include "pingpong.h"

static double *local, *shared, *there;

static void put(const pp_case* c) {
  ARMCI_Put(local, there, (int)c->bytes, 1);
  ARMCI_Fence(1);
}

static void get(const pp_case* c) { ARMCI_Get(there, local, (int)c->bytes, 1); }

static void put2(const pp_case* c) {
  int stride = 2 * sizeof(double), count[] = {sizeof(double), (int)c->words};
  ARMCI_PutS(local, &stride, there, &stride, count, 1, 1);
  ARMCI_Fence(1);
}

static void get2(const pp_case* c) {
  int stride = 2 * sizeof(double), count[] = {sizeof(double), (int)c->words};
  ARMCI_GetS(there, &stride, local, &stride, count, 1, 1);
}

static void accumulate(const pp_case* c) {
  double one = 1;
  ARMCI_Acc(ARMCI_ACC_DBL, &one, local, there, (int)c->bytes, 1);
  ARMCI_Fence(1);
}

int main(int argc, char** argv) {
  int rank;
  void* parts[2];
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ARMCI_Malloc(parts, PP_WORDS * sizeof(double));
  local = ARMCI_Malloc_local(PP_WORDS * sizeof(double));
  shared = parts[rank];
  there = parts[1];
  const pp_contestant armci = {"armci", rank,          local,
                               shared,  ARMCI_Barrier, {put, get, put2, get2, accumulate, NULL, NULL, NULL}};
  const int status = pp_main(&armci, argc, argv);
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  ARMCI_Free_local(local);
  ARMCI_Free(shared);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
