/* volume.h: snapshots of a field of doubles on a regular grid, or of moving points, as time goes on: NAME.h5 (HDF5, one
 * dataset for each snapshot) and NAME.xmf (XDMF), by which ParaView, VisIt and others open them as one series. NAME.xmf
 * lists what has been written, so the series can be looked at while the program runs.
 *
 * Both files have the snapshots that have been written, and no others: also after a run that was stopped or has failed.
 * HDF5 makes the file, on rank 0 alone; each rank writes its planes where HDF5 has put them. So HDF5 needs no MPI.
 * A program that was built without HDF5 refuses. Collective: all functions. */
#ifndef APPS_COMMON_VOLUME_H
#define APPS_COMMON_VOLUME_H

#include "files.h"

typedef struct volume {
  const char *folder, *name, *field; /* of the files, and of the numbers ("pressure") */
  int size[3];                       /* numbers in x, y, z; x is contiguous */
  const char* const* vectors;        /* NULL: a grid. Else y counts points, each of x numbers, of which the first three
                                        are its place; the next ones are named here, 3 numbers or, the last, 1 */
  double spacing, origin;            /* of the grid: metres from a number to the next, and of the first one */
  int every, steps;                  /* steps from one snapshot to the next; up to the last step */
  double step_time;                  /* seconds */
  /* for volume.c */
  int file;
  bool* written; /* which snapshots are in the file, in rank 0 */
} volume;

/* Ends the program if it was built without HDF5; `option`: what the user has asked for. */
void volume_require(const team* team, const char* option);

/* Makes the files. Those of an earlier run are kept and used where `restart` is its last step, not 0; one that cannot
 * be, because it is damaged or has another size, is left as it is, and ends the program. */
void volume_open(const team* team, volume* v, int restart);

/* The snapshot of this step; the planes of all ranks together are the grid. */
void volume_write(const team* team, volume* v, int step, const slab* planes);

void volume_close(volume* v);

#endif
