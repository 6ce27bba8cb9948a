/* MPI beside Hiroba: the communicator of all ranks, in the order of Hiroba's ranks.
 *
 * A program that calls MPI itself must be started with --transport mpi, over the same MPI. Either side may initialise
 * MPI: the program, with MPI_Init_thread and MPI_THREAD_MULTIPLE, before sms_startup; or sms_startup, and then the
 * program does not call MPI_Init and MPI_Finalize (MPI_Initialized returns the state). The side that initialised MPI
 * finalises it, the program after sms_shutdown. Shared memory may be passed to MPI's calls in files that include this
 * (mpi_calls.h). */
#ifndef HIROBA_MPI_H
#define HIROBA_MPI_H

#include <mpi.h>
#include <stddef.h>

#include "mpi_calls.h"
#include "xmp.h"

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

/* XcalableMP's names for the start of MPI before Hiroba and its end after: as above, and no operation where Hiroba has
 * started MPI, as in programs of hirobacc, whose coarrays exist before main. */
__attribute__((weak)) int hiroba_program_began_mpi; /* one for all files that include this */
static inline void xmp_init_mpi(int* argc, char*** argv) {
  int begun, provided;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  hiroba_program_began_mpi = !begun;
}
static inline void xmp_finalize_mpi(void) {
  if (hiroba_program_began_mpi) MPI_Finalize();
}

/* Returns hiroba_comm() by XcalableMP's name: all images, for any executing set. */
static inline MPI_Comm xmp_get_mpi_comm(void) { return hiroba_comm(); }

/* For the images of a node array, numbered as there: *comm becomes a pointer to an MPI_Comm, which belongs to Hiroba
 * and is valid as long as the array has these images; MPI_COMM_NULL on an image that is not in it. Collective over
 * these images at the first call for them; over all of the job, if none of these functions has been called before.
 * Returns 0. */
static inline int xmp_nodes_comm(xmp_desc_t nodes, void** comm) {
  xmp_nodes* const array = (xmp_nodes*)nodes;
  const xmp_images images = array->images;
  MPI_Comm* const made = (MPI_Comm*)&array->communicator;
  if (!array->has_communicator) {
    const MPI_Comm all = hiroba_comm();
    int range[1][3] = {{images.first, images.first + (images.count - 1) * images.step, images.step}}, me;
    MPI_Group everyone, members;
    MPI_Comm_group(all, &everyone);
    if (images.table != NULL) MPI_Group_incl(everyone, images.count, images.table, &members);
    else MPI_Group_range_incl(everyone, 1, range, &members);
    MPI_Group_rank(members, &me);
    *made = MPI_COMM_NULL;
    if (me != MPI_UNDEFINED) MPI_Comm_create_group(all, members, 0, made);
    MPI_Group_free(&members);
    MPI_Group_free(&everyone);
    array->has_communicator = 1;
  }
  *comm = made;
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif
