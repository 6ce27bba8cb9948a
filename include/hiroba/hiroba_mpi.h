/* MPI beside Hiroba: the communicator of all ranks, in the order of Hiroba's ranks.
 *
 * A program that calls MPI itself must be started with --transport mpi, over the same MPI. Either side may initialise
 * MPI: the program, with MPI_Init_thread and MPI_THREAD_MULTIPLE, before sms_startup; or sms_startup, and then the
 * program leaves MPI_Init and MPI_Finalize out (MPI_Initialized tells). Who initialised MPI finalises it, the program
 * after sms_shutdown. docs/memory-model.md says which shared memory may be passed to MPI. */
#ifndef HIROBA_MPI_H
#define HIROBA_MPI_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void hiroba_copy_communicator(void* out, size_t bytes);

/* Belongs to Hiroba: do not free it; duplicate it for use in a library. Valid from sms_startup to sms_shutdown.
 * Collective at the first call. */
static inline MPI_Comm hiroba_comm(void) {
  MPI_Comm comm;
  hiroba_copy_communicator(&comm, sizeof comm);
  return comm;
}

/* The same by XcalableMP's name: of all images, whatever the executing set is. */
static inline MPI_Comm xmp_get_mpi_comm(void) { return hiroba_comm(); }

#ifdef __cplusplus
}
#endif

#endif
