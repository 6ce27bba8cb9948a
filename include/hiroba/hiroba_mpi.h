/* MPI beside Hiroba: the communicator of all ranks, in the order of Hiroba's ranks.
 *
 * A program that calls MPI itself must be started with --transport mpi, over the same MPI. Either side may initialise
 * MPI: the program, with MPI_Init_thread and MPI_THREAD_MULTIPLE, before sms_startup; or sms_startup, and then the
 * program does not call MPI_Init and MPI_Finalize (MPI_Initialized returns the state). The side that initialised MPI
 * finalises it, the program after sms_shutdown. Shared memory may be passed to MPI's calls in files that include this
 * (mpi_calls.h), and MPI_Init asks for MPI_THREAD_MULTIPLE there. xmp.h includes this in files that include mpi.h
 * before. */
#ifndef HIROBA_MPI_H
#define HIROBA_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi_calls.h"
#include "xmp.h"

#ifdef __cplusplus
extern "C" {
#endif

void hiroba_copy_communicator(void* out, size_t bytes);

/* Belongs to Hiroba: do not free it; duplicate it for use in a library. Valid from sms_startup to sms_shutdown. Not
 * collective in programs that are linked with MPI; in others, which load it later, at the first call. */
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

/* Returns the communicator of some ranks, in their order, or MPI_COMM_NULL on another rank. Collective over them. */
static inline MPI_Comm hiroba_make_comm(xmp_images images) {
  const MPI_Comm all = hiroba_comm();
  int range[1][3] = {{images.first, images.first + (images.count - 1) * images.step, images.step}}, me;
  MPI_Group everyone, members;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(all, &everyone);
  if (images.table != NULL) MPI_Group_incl(everyone, images.count, images.table, &members);
  else MPI_Group_range_incl(everyone, 1, range, &members);
  MPI_Group_rank(members, &me);
  if (me != MPI_UNDEFINED) MPI_Comm_create_group(all, members, 0, &made);
  MPI_Group_free(&members);
  MPI_Group_free(&everyone);
  return made;
}

/* The communicator of the executing set, with its numbers of images from 0. It belongs to Hiroba, and is valid until
 * the job ends. Collective over the set at the first call in it. */
struct hiroba_kept_comm {
  xmp_images images;
  MPI_Comm comm;
  struct hiroba_kept_comm* next;
};
__attribute__((weak)) struct hiroba_kept_comm* hiroba_kept_comms; /* one list for all files that include this */
static inline MPI_Comm xmp_get_mpi_comm(void) {
  const xmp_images set = xmp_executing;
  struct hiroba_kept_comm* kept = hiroba_kept_comms;
  int size = 0;
  MPI_Comm_size(hiroba_comm(), &size);
  if (set.count == 0 || (set.count == size && set.table == NULL && set.step == 1)) return hiroba_comm();
  while (kept != NULL && (kept->images.first != set.first || kept->images.step != set.step ||
                          kept->images.count != set.count || kept->images.table != set.table))
    kept = kept->next;
  if (kept == NULL) {
    kept = (struct hiroba_kept_comm*)malloc(sizeof *kept);
    kept->images = set, kept->comm = hiroba_make_comm(set), kept->next = hiroba_kept_comms;
    hiroba_kept_comms = kept;
  }
  return kept->comm;
}

/* For the images of a node array, numbered as there: *comm becomes a pointer to an MPI_Comm, which belongs to Hiroba
 * and is valid as long as the array has these images; MPI_COMM_NULL on an image that is not in it. Collective over
 * these images at the first call for them. Returns 0. */
static inline int xmp_nodes_comm(xmp_desc_t nodes, void** comm) {
  xmp_nodes* const array = (xmp_nodes*)nodes;
  MPI_Comm* const made = (MPI_Comm*)&array->communicator;
  if (!array->has_communicator) *made = hiroba_make_comm(array->images);
  array->has_communicator = 1;
  *comm = made;
  return 0;
}

/* xmp_init(comm), in programs that have initialised MPI: all processes start the job, and the images have the numbers
 * of the communicator. It must have all processes of MPI_COMM_WORLD, because each is a rank; work for fewer is a task
 * on some nodes. xmp_finalize comes before MPI_Finalize. xmp_init(argc, argv) is that of xmp.h. */
static inline void xmp_init_with(int* argc, char*** argv) { xmp_init(argc, argv); }
static inline void xmp_init_on(MPI_Comm comm) {
  int begun = 0, size = 0, all = 0, same = 1;
  MPI_Group ours, theirs;
  MPI_Initialized(&begun);
  if (begun) MPI_Comm_size(MPI_COMM_WORLD, &all), MPI_Comm_size(comm, &size);
  if (!begun || size != all) {
    if (!begun) fprintf(stderr, "hiroba: xmp_init(comm) before MPI_Init; call MPI_Init first\n");
    else
      fprintf(stderr,
              "hiroba: xmp_init: the communicator has %d of the %d processes; give MPI_COMM_WORLD, and let fewer nodes "
              "work by #pragma xmp task\n",
              size, all);
    if (begun) {
      const double end = MPI_Wtime() + 0.1; /* Hydra loses what it has not read when it ends a job. */
      while (MPI_Wtime() < end) continue;
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    exit(1);
  }
  xmp_init(NULL, NULL);
  int* const images = (int*)malloc(2 * (size_t)size * sizeof(int)); /* of the job; and in its order */
  for (int i = 0; i < size; ++i) images[size + i] = i;
  MPI_Comm_group(comm, &theirs);
  MPI_Comm_group(hiroba_comm(), &ours);
  MPI_Group_translate_ranks(theirs, size, images + size, ours, images);
  MPI_Group_free(&theirs);
  MPI_Group_free(&ours);
  for (int i = 0; i < size; ++i) same = same && images[i] == i;
  if (same) {
    free(images);
    return;
  }
  xmp_executing.first = images[0], xmp_executing.table = images; /* kept until the program ends */
}
#define HIROBA_OF_TWO(a, b, name, ...) name
#define xmp_init(...) HIROBA_OF_TWO(__VA_ARGS__, xmp_init_with, xmp_init_on, )(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
