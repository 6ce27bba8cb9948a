/* fdtd.h: what the five FDTD programs share, so that they differ only in how memory is shared.
 *
 * Sound in a box of nx x ny x nz cubic cells of edge h: the pressure p lives at the centres of cells, the three
 * components of the velocity u on their faces, half a step later than p. With the velocity stored times rho c, and with
 * Courant's number S = c dt / h, a step is
 *
 *   u_d -= S * rise_d(p)        p -= S * (rise_x(u_x) + rise_y(u_y) + rise_z(u_z))
 *
 * where rise() is the difference across a face (a cell) from four points, of 4th order. README.md has the method.
 *
 * Storage: cell (x, y, z) is element (z + PAD) * plane + (y + PAD) * row + (x + PAD_X) of each array, and face (x, y,
 * z) of u_d the one between the cells x - 1 and x in direction d. The PAD cells around the box (in x PAD_X before it,
 * so that it begins at a cache line) count as solid, so the walls of the box need no code of their own. Those at the
 * ends of a row hold mirror images (mirror_p, mirror_u), so rows without a solid nearby have no special case. Below, z,
 * y and x include PAD and PAD_X, and all boxes do.
 *
 * Who owns what: a variant allocates the fields, and computes the planes [lo, hi). The functions update_*, fdtd_at,
 * fdtd_depth and fdtd_sound compute, and do not communicate; all others are collective: called by all ranks (one thread
 * of each), blocking. Mistakes of the user end the program there, with one message. */
#ifndef FDTD_FDTD_H
#define FDTD_FDTD_H

#include <stddef.h>

#include "../common/checkpoint.h"
#include "../common/options.h"
#include "../common/run.h"
#include "../common/volume.h"
#include "cell.h"

enum { PAGE_ELEMENTS = 512 };
enum { PHASE_U, PHASE_P, PHASE_PML_U, PHASE_PML_P, PHASES };

/* Of the planes [z0, z1) the rows [y0, y1). */
typedef struct part {
  int z0, z1, y0, y1;
} part;

typedef struct place {
  box cells;
  const char* text; /* as it stands on the command line */
} place;

/* p and u[d] so that element z * plane + y * row + x is the one of cell (z, y, x), for z in [lo - HALO, hi + HALO).
 * split[b]: the three parts of p in layer b, whose row (z, part, y) begins at split_row(). */
typedef struct fields {
  double *p, *u[3], *split[FACES];
} fields;

typedef struct fdtd {
  team team;
  run run;
  int threads;
  /* options */
  int size[3], steps, depth, every, film, snapshot, pulse_width, seed;
  double courant, spacing, speed, reflection, order;
  bool verify, json, help;
  const char *layers_text, *start, *solid_file, *wave_file, *restart, *folder;
  const char *source_texts[OPTION_LIST], *probe_texts[OPTION_LIST];
  /* what follows from them */
  int layers[FACES]; /* cells of absorbing layer at x low, x high, y low, .. */
  box inner, layer[FACES];
  double *keep_p[3], *add_p[3], *keep_u[3], *add_u[3]; /* factors by x, y, z: e^(-s dt), S (1 - e^(-s dt)) / (s dt) */
  place sources[OPTION_LIST], probes[OPTION_LIST];
  int source_count, probe_count;
  double* wave;         /* what sources add, by step */
  unsigned char* solid; /* 1 in solid cells, by z * plane + y * row + x, z in [lo - HALO, hi + HALO) */
  unsigned char* kind;  /* of rows, by z * rows + y: the same z */
  uint64_t geometry;    /* a checksum of the solid cells */
  int row, rows;        /* elements from a row to the next, rows from a plane to the next */
  ptrdiff_t plane;      /* = rows * row, whole pages: no two ranks share a page */
  int split_rows[FACES], split_width[FACES];
  int first, last, lo, hi; /* planes of this rank by the rule of sms_mapalloc, PAD included; those with cells */
  int step, step_reached;  /* steps done when the loop starts, and when it ended */
  double energy, mass;     /* at the start, for --verify */
  double error, limit;
  double* record;                      /* what probes measured: sums by plane, probe, step */
  void* private_memory[4 + FACES + 2]; /* what fdtd_finish frees: fields, solid, kind */
  int film_file;
  volume volume; /* of --volume */
  int devices;
  void (*fetch)(void* of); /* brings the fields of this rank's planes into `fields`; NULL: they are there */
  void* fetch_of;
} fdtd;

static inline ptrdiff_t fdtd_at(const fdtd* f, int z, int y, int x) { return z * f->plane + y * (ptrdiff_t)f->row + x; }

/* Elements of a plane of layer b, and where in it a row begins. */
static inline ptrdiff_t split_plane(const fdtd* f, int b) {
  return (ptrdiff_t)SPLIT * f->split_rows[b] * f->split_width[b];
}
static inline split_part split_of(const fdtd* f, const fields* a, int b) {
  return (split_part){a->split[b], f->split_rows[b], f->split_width[b], f->layer[b]};
}
static inline ptrdiff_t split_row(const fdtd* f, int b, int z, int part, int y) {
  const split_part s = {NULL, f->split_rows[b], f->split_width[b], f->layer[b]};
  return split_at(&s, z, part, y);
}

/* ---- setup.c ----------------------------------------------------------------------------------------------------- */

/* Reads the command line, the geometry and the header of a restart file; checks what can be checked at once. */
void fdtd_begin(fdtd* f, const char* program, team team, int argc, char** argv);

/* Private arrays for the fields in planes [first - halo, last + halo), untouched; or for the layers' parts of p alone,
 * which no other rank reads. */
fields fdtd_private(fdtd* f, int halo);
fields fdtd_private_layers(fdtd* f);

/* ---- start.c ----------------------------------------------------------------------------------------------------- */

/* Gives the fields of this rank's planes the values of the start, or of the restart file. */
void fdtd_fill(fdtd* f, fields* a);

/* Takes the step from the header of the restart file. */
void fdtd_open_restart(fdtd* f);

/* The state for a checkpoint. */
void fdtd_save(fdtd* f, int step, const fields* a);

/* For --verify: before the first step, and after the last; sets error and limit. The variant has made the HALO planes
 * beside its own valid. */
void fdtd_check_begin(fdtd* f, const fields* a);
void fdtd_check(fdtd* f, const fields* a);

/* ---- update.c, or the variant itself ----------------------------------------------------------------------------- */

/* A step of u, and then one of p, in planes of this rank; what they read is valid. */
void update_u(fdtd* f, const fields* a, part r);
void update_p(fdtd* f, const fields* a, part r);

/* ---- order.c ----------------------------------------------------------------------------------------------------- */

/* How many steps to do at once, from `step` on (counted from 1): fields are whole where a file needs them. */
int fdtd_depth(const fdtd* f, int step);

/* `depth` steps at once. u at a plane reads p READ_BELOW_OF_P planes below and READ_ABOVE_OF_P above, p reads u_z
 * likewise; what other ranks have of it must be valid:
 *
 *   for k of 0 .. depth - 1:   update_u_ends(k); for k = 0 also update_bands, while u_z of the other ranks arrives
 *                              [here u_z of other ranks]   update_p_ends(k)   [here p of other ranks] */
enum { READ_BELOW_OF_P = 2, READ_ABOVE_OF_P = 1, READ_BELOW_OF_U = 1, READ_ABOVE_OF_U = 2 };

void update_u_ends(fdtd* f, const fields* a, int k);
void update_bands(fdtd* f, const fields* a, int step, int depth);
void update_p_ends(fdtd* f, const fields* a, int step, int k);

/* ---- record.c ---------------------------------------------------------------------------------------------------- */

/* Starts the clock. */
void fdtd_start(fdtd* f);

/* When p of a step is updated in planes of this rank: adds what the sources give, and takes what probes measure. Of a
 * plane and step, rows come in their order. */
void fdtd_sound(const fdtd* f, int step, const fields* a, part r);

/* When p of this step is complete in the planes of this rank: film, checkpoint, progress. Returns false if the
 * run is to end now. */
bool fdtd_step(fdtd* f, int step, const fields* a);

/* Verifies, writes the results, prints the report (with the counters, or NULL), leaves the team. Returns the exit
 * status. */
int fdtd_finish(fdtd* f, const fields* a, const counter counters[]);

#endif
