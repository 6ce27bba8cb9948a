/* panels.h: over MPI, copies of the tiles of other ranks that this rank needs, and the messages that bring them.
 *
 * In step k all ranks need some of the tiles (i, k), i >= k, each in a message of its own. There is room for the copies
 * of the last few steps: tile (i, k) has the same place as tile (i, k + depth), and its requests, too.
 *
 * Collective: panels_open, panels_gather. panels_start and panels_finish may be called by many threads for different
 * tiles. */
#ifndef CHOLESKY_PANELS_H
#define CHOLESKY_PANELS_H

#include "../common/mpi_team.h"
#include "cholesky.h"

/* For `open` and `close`: sets c->own. */
void panels_open(cholesky* c, int depth);
void panels_close(cholesky* c);

/* Tile (i, k): this rank's, or where its copy is. */
const double* panels_tile(const cholesky* c, int i, int k);

/* Whether this rank sends or receives tile (i, k). */
bool panels_moves(const cholesky* c, int i, int k);

/* What stands for the messages of this tile in dependences of tasks. */
const MPI_Request* panels_requests(const cholesky* c, int i, int k);

/* Starts the messages of this tile; nothing where it does not move. */
void panels_start(cholesky* c, int i, int k);

/* Waits for them, so that a copy may be read, or until this rank need not care any more. */
void panels_finish(cholesky* c, int i, int k);

/* For `panel`: every tile (i, k) for every rank. */
void panels_gather(cholesky* c, int k, const double* tile[]);

#endif
