/* barnes_hut.h: N bodies that attract each other, by the method of Barnes and Hut on one octree of all bodies, which
 * lies in shared memory with plain pointers from cell to cell.
 *
 * tree.c makes cells of bodies, forces.c accelerations of cells, barnes_hut.c the time steps, setup.c the start,
 * record.c files and reports, check.c compares with the direct sum. Only barnes_hut_seq.c and barnes_hut_sms.c know how
 * memory is shared; the latter divides bodies among ranks.
 *
 * A cell is divided if it holds more than LEAF bodies; so the set of cells depends on the bodies alone. Cells, groups
 * and sums are made in an order that depends on nothing else either: the bits of the answer are the same for any number
 * of ranks and threads, and wherever bodies and cells lie.
 *
 * Who owns what: a rank has the bodies of its area, which it alone moves, and the cells it has made; all ranks read all
 * of them between the barriers of a step. The tree and what it points to are valid from one build to the next.
 * Collective, called by one thread of each rank, and blocking, where not stated otherwise. */
#ifndef BARNES_HUT_H
#define BARNES_HUT_H

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../common/checkpoint.h"
#include "../common/options.h"
#include "../common/run.h"
#include "../common/volume.h"

enum {
  LEAF = 24,    /* most bodies of a cell that is not divided */
  GROUP = 32,   /* most bodies whose forces come from one list */
  PACKED = 512, /* cells with at most as many bodies are divided into groups of more than one child */
  DEPTH = 60,   /* most levels of cells: beyond, bodies are in one place as far as numbers tell */
  CHUNK = 512,  /* cells that are taken at once */
  COLUMNS = 7,  /* of a body in files: x y z vx vy vz m */
};

/* What other ranks read of a body, and the rest of it. */
typedef struct body {
  double x, y, z, m;
} body;

typedef struct motion {
  double v[3], a[3], phi; /* phi: potential per mass */
  int32_t id, cost;       /* cost: how long its list was */
} motion;

typedef struct cube {
  double x, y, z, half; /* centre, half a side */
} cube;

/* What is in an eighth of a cell. */
enum { NOTHING, CELL, LIST, RUN };

/* A few bodies, wherever they lie. */
typedef struct leaf {
  body* body[LEAF];
  int16_t home[LEAF]; /* of body[k]: number of an area */
  int32_t bodies;
} leaf;

/* A cell that is divided. What is known of its eighths is here, so that one who sees them from afar reads this only. */
typedef struct cell {
  cube whole;
  /* Centres of mass, from the centre of the cell: what this rounds away is 1e-7 of the side, far less than the error of
   * a cell taken for a point. */
  float x[8], y[8], z[8], m[8];
  union {
    struct cell* cell; /* CELL */
    leaf* leaf;        /* LIST */
    body* bodies;      /* RUN: one after the other, as BodySort lays them */
  } in[8];
  int32_t count[8]; /* bodies */
  int16_t rank[8];  /* that has made it, for RUN and LIST, too */
  int8_t kind[8];
} cell;

/* Bodies at home on a rank. */
typedef struct area {
  body* bodies;
  motion* motions;
  int count, room;
} area;

typedef struct place {
  body* body;
  motion* motion;
} place;

/* Cells or leaves of this rank, in chunks of shared memory. */
typedef struct pool {
  void** chunk;
  int chunks, used;
} pool;

typedef struct eighth {
  cell* of;
  int number;
} eighth;

/* Two bodies that are in one place, as far as numbers tell. */
typedef struct twins {
  bool found;
  int id[2];
  body at;
} twins;

/* The tree, and what this rank has of it. */
typedef struct tree {
  cell* root;
  double sum[4];      /* of m x, m y, m z and m of all bodies, as the tree has them */
  double smallest;    /* half a side of the smallest cells */
  pool cells, leaves; /* made anew in each step */
  place* order;       /* its bodies in the order of the tree */
  eighth* leaf;       /* its leaves, likewise */
  int* group;         /* the first body of each group; group[groups] is the end */
  int bodies, leaf_count, groups, room;
  twins twins;
} tree;

enum { BUILD, SORT, FORCES, UPDATE, EXCHANGE, PHASES };

/* Sums over the ranks since the first step; bytes and cells: now. */
typedef struct figures {
  double seconds, phase[PHASES], accesses, interactions, pages, bytes, cells;
} figures;

/* How the ranks share memory. One process leaves barrier and counters NULL. */
typedef struct memory {
  void* (*take)(size_t bytes); /* not collective */
  void (*give)(void* memory);
  void (*barrier)(void);
  /* What this rank has fetched from other nodes, and the bytes of shared memory and copies that it has; not
   * collective. */
  void (*counters)(int64_t* pages, int64_t* bytes);
} memory;

typedef struct sources sources; /* of forces.c */

typedef struct bh {
  team team;
  run run;
  memory memory;
  int threads;
  /* options */
  int size, steps, every, seed, bodysort; /* size: 0 until it is known */
  double theta, softening, dt;
  bool verify, json, help;
  const char *input, *checkpoint, *restart, *output, *volume_folder;
  /* state */
  int step, first, last; /* steps done; in files this rank has the bodies [first, last) */
  double time;
  area area, spare; /* of this rank; where BodySort moves its bodies */
  area* areas;      /* by rank; while a tree is built with BodySort, copies of bodies that others send */
  int* node;        /* by rank */
  double* records;  /* all bodies, in the order of their numbers, for files; this rank has [first, last) */
  struct tree tree;
  struct sources* sources; /* by thread */
  /* counters of this rank */
  int64_t accesses, pages, interactions;
  double energy, start_energy, drift, momentum; /* of all ranks; drift: largest relative change of the energy */
  figures shown;                                /* after the step that was printed last */
  volume volume;
} bh;

/* ---- barnes_hut.c ------------------------------------------------------------------------------------------------ */

/* The cube around the origin that holds all bodies: half its side is a power of two. Begins a tree of it. */
cube cube_of(bh* b);

/* Adds the time since then to a phase, and begins another. Not collective. */
static inline void bh_phase(bh* b, int phase, double* since) {
  const double now = team_now();
  b->run.phase[phase] += now - *since;
  *since = now;
}

/* Whether bodies are renumbered in this step, or before the first one. */
static inline bool bh_sorts(const bh* b) { return b->bodysort > 0 && b->step % b->bodysort == 0; }

/* All steps. `build` makes the tree of all bodies, and times its phases. */
void bh_run(bh* b, void (*build)(bh* b));

/* ---- setup.c ----------------------------------------------------------------------------------------------------- */

/* Reads the command line and checks it. */
void bh_begin(bh* b, const char* program, team team, memory memory, int argc, char** argv);

/* Takes the number of bodies from a file. */
void bh_set_size(bh* b, const char* option, const char* file, int size);

/* Gives this rank its bodies at the start. `records` are COLUMNS numbers for each body of all ranks, of which this rank
 * has those of [first, last). */
void bh_start(bh* b, double* records);

/* ---- tree.c (not collective) ------------------------------------------------------------------------------------- */

/* Forgets the cells of this rank; makes room for `bodies` in tree order. */
void tree_begin(bh* b, int bodies);

/* A cell with nothing in it. */
cell* tree_cell(bh* b, cube whole);

/* Puts a body of the area with number `home` into an eighth, which is the cube q. */
void tree_insert(bh* b, eighth at, cube q, body* body, int home);

/* Computes what is in an eighth, all of it of this rank, and appends its bodies, leaves and groups to those of the
 * rank, in the order of the curve. Adds to the sums of m x, m y, m z, m. */
void tree_finish(bh* b, eighth at, int curve, double sum[4]);

/* Adds a body; makes such a sum the centre of an eighth, and adds it to that of what is around it. */
void tree_add(double sum[4], const body* p);
void tree_centre(eighth at, const double own[4], double sum[4]);

/* BodySort: copies the bodies of this rank to its spare area, in the order of the tree, which then points there, and
 * swaps the areas. */
void tree_sort(bh* b);

/* Frees what this file and forces.c have made, when no other rank reads it any more. */
void bh_free(bh* b);

/* Room for `count` bodies. */
void area_reserve(const bh* b, area* a, int count);
void area_free(const bh* b, area* a);

static inline motion* motion_of(const bh* b, int home, const body* body) {
  return b->areas[home].motions + (body - b->areas[home].bodies);
}

/* Which eighth of the cube, and that eighth. */
static inline int octant_of(const cube* q, const body* p) {
  return (p->x >= q->x) << 2 | (p->y >= q->y) << 1 | (p->z >= q->z);
}

static inline cube octant(cube q, int o) {
  const double h = q.half / 2;
  return (cube){q.x + (o & 4 ? h : -h), q.y + (o & 2 ? h : -h), q.z + (o & 1 ? h : -h), h};
}

/* The order of the tree: Hilbert's curve, on which neighbours in the order are neighbours in space, so that bodies near
 * each other lie on few pages. `curve` is the state of the curve in a cube, START for the largest; returns which eighth
 * is the k-th, and the state in it. (C. Hamilton, Compact Hilbert Indices, 2006: entry points and directions.) */
enum { START = 0 };
static inline int curve_octant(int curve, int k, int* inside) {
  static const int8_t direction[8] = {0, 1, 1, 2, 2, 1, 1, 0}, entry[8] = {0, 0, 0, 3, 3, 6, 6, 5};
  const int enter = curve & 7, axis = curve >> 3, turn = (axis + 1) % 3, gray = k ^ k >> 1;
  const int at = enter ^ ((gray << turn | gray >> (3 - turn)) & 7);
  const int next = enter ^ ((entry[k] << turn | entry[k] >> (3 - turn)) & 7);
  *inside = next | (axis + direction[k] + 1) % 3 << 3;
  return at;
}

/* The number of this thread in its rank. */
static inline int bh_thread(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

/* Private memory, never NULL: ends the program where there is none. Not collective. */
void* bh_room(const bh* b, void* old, size_t bytes);

/* ---- forces.c (not collective) ----------------------------------------------------------------------------------- */

/* Accelerations of the bodies of this rank in tree order. */
void forces(bh* b);
void forces_free(bh* b);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* Ends the program if two bodies are in one place. */
void check_twins(const bh* b);

/* Ends the program unless the tree holds every body once, with the mass and the centre of all. */
void check_tree(const bh* b);

/* A sum over what is in all cells: equal for equal trees. */
uint64_t check_cells(const bh* b);

/* The rms relative error of the accelerations of some bodies against the direct sum; with theta 0 the largest one. */
double check_forces(const bh* b);
double check_limit(const bh* b);

/* ---- record.c ---------------------------------------------------------------------------------------------------- */

void record_open_restart(bh* b);
void record_load_restart(bh* b);
void record_open_volume(bh* b);

/* After a step: prints its figures, writes files that are due. False if the run is to end now. */
bool record_step(bh* b);

/* Verifies, writes the output, prints the report, frees what was made of the bodies. Returns the exit status. The team
 * is still there. */
int bh_finish(bh* b);

#endif
