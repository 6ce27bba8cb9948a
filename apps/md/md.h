/* md.h: molecular dynamics with forces of short range: Lennard-Jones particles in a periodic cube. What all variants
 * share: the options, the cells, a step, the check, the report.
 *
 * The cube is divided into cells that are not smaller than the range of the forces, so a particle needs those of its
 * own cell and of the 26 around it. A layer is all cells of one z; the layers are divided among the parts (ranks, or
 * threads), and a step has four phases, between which the parts wait:
 *
 *   drift    velocities and places of own layers; who has left its cell goes into a box: for this layer, up, or down
 *   arrive   takes the particles from own boxes and from those of the layers below and above
 *   forces   each pair once: of this layer, and of this layer with the one above, whose share of the forces is kept
 *            here, in `up`
 *   finish   adds what the layer below has in `up`
 *
 * A layer is computed by one part, each sum in one order; so the answer has the same bits for all numbers of parts.
 *
 * Collective: md_begin, md_run. The phases are local; they write the layer that they name, and read others. */
#ifndef MD_MD_H
#define MD_MD_H

#include <stddef.h>

#include "../common/parts.h"
#include "../common/tiled.h"

enum { MD_MOVE, MD_FORCE, MD_COMM }; /* categories of the split */

enum { MD_ROOM = 32 };  /* particles that a cell has room for */
#define MD_FAR_AWAY 1e9 /* the places of the others */
#define MD_RANGE 2.5    /* of the forces */

/* A particle on its way to cell `cell` of a layer. */
typedef struct traveller {
  double x[3], v[3];
  int id, cell;
} traveller;

typedef struct box {
  int64_t count;
  traveller of[];
} box;

enum { MD_HERE, MD_UP, MD_DOWN, MD_BOXES };

/* Numbers of cell c: x[(3 * c + d) * MD_ROOM + i]. Where a cell has no particle, x is far away from all. */
typedef struct layer {
  double* x; /* the places: this, and count, in one piece of md.place_bytes */
  int* count;
  double* up;             /* md.force_bytes */
  box* leaving[MD_BOXES]; /* md.box_bytes each */
  double *v, *f;
  int* id;
} layer;

enum { MD_STEP_TOO_LONG = 1, MD_CELL_FULL, MD_BOX_FULL }; /* faults */

typedef struct md {
  tiled run;
  double step; /* --dt */
  int seed;
  int particles;
  double extent, edge; /* of the cube, of a cell */
  int cells;           /* in each dimension, so the number of layers, too */
  int box_room;
  size_t place_bytes, force_bytes, box_bytes, layer_bytes; /* whole pages */
  int first, end;                                          /* the layers of this rank */
  layer* layers;                                           /* by z; only those of this rank need to be there */
  double mean[3], scale;                                   /* of the velocities at the start */
  double* energy; /* of this rank: [potential, kinetic] after each step, from step 0 */
  int fault;
} md;

/* Reads the command line. Layers [first, end) are this rank's: equal shares, the last ones smaller. */
void md_begin(md* m, team team, int threads, int argc, char** argv);

int md_share(const md* m, int parts);

/* Zeroed memory for some layers, on the border of a page; ends the program if there is none. Collective. */
void* md_memory(const md* m, int layers);

/* A layer in memory of layer_bytes. */
layer md_layer(const md* m, void* memory);

/* The particles that start in layer z. */
void md_fill(md* m, int z);

/* Computes --steps steps with `steps`, checks, reports, and leaves the team. Returns the exit status. */
int md_run(md* m, tiled_steps steps);

/* ---- the phases; each returns a fault, or 0 ---------------------------------------------------------------------- */

/* `kick`: the time for which the forces act on the velocities. */
int md_drift(const md* m, layer* l, int z, double kick);
int md_arrive(const md* m, layer* l, const box* from_below, const box* from_above);
/* These two return energies: potential and kinetic. */
double md_forces(const md* m, layer* l, const layer* above, bool last);
double md_finish(const md* m, layer* l, const double* from_below, double rest);

/* ---- parts that share the layers --------------------------------------------------------------------------------- */

/* Computes the steps [from, to); called by all parts. The energies are added to `energy`, as in md. */
int md_part_steps(md* m, const parts* parts, int part, int from, int to, double* energy);

#endif
