/* Random data-race-free programs and their sequential oracle.
 *
 * A program is a number of phases over a set of shared arrays. Everything in it follows from its seed and the number
 * of ranks, so each rank knows the whole program and keeps a private model of all arrays: it applies to the model
 * what all ranks do, one after the other, and compares what it reads from shared memory with the model.
 *
 * In a phase an array is cut into units of some bytes. A unit belongs to one actor (a thread of a rank), who alone
 * writes and reads it; or to nobody, and everyone may read it; or to a lock, to atomics or to a relay (below). So no
 * two actors ever touch a byte that one of them writes without a synchronisation between them, and yet neighbours in
 * a page belong to different ranks. Phases end with a barrier of either kind.
 *
 * Ownership: an array's model belongs to the program; actors of this rank write only their own units of it during a
 * phase, so the threads of a rank need no lock for it.
 */
#ifndef HIROBA_TESTS_RANDOM_H
#define HIROBA_TESTS_RANDOM_H

#include "programs.h"

enum {
  MAX_ARRAYS = 5,
  MAX_DIMS = 4,
  MAX_GROUPS = 4,
  MAX_MEMBERS = 12,
  MAX_RELAY = 24,
  MAX_ACTORS = 256,
  MAX_THREADS = 16
};

typedef struct settings {
  uint64_t seed;
  int seeds, phases, threads, scale;
  int twins; /* also sms_set_twin at random */
} settings;

typedef struct array {
  int id; /* counts the allocations of the program */
  size_t elemsize, bytes;
  size_t scalar; /* of what ranks may write at a time; units are not smaller */
  int ndim;
  int64_t dim[MAX_DIMS], div[MAX_DIMS];
  int first, count;
  unsigned char *shared, *model;
} array;

typedef struct program {
  const settings* set;
  uint64_t seed;
  rng script; /* the same on all ranks */
  int calm;   /* nothing but barriers synchronises, so that copies stay for long */
  int allocated, phase;
  array arrays[MAX_ARRAYS];
  int narrays;
  int64_t* control; /* [0] a turn under atomics, [1] a turn under a lock */
  int64_t turns[2]; /* their values now */
} program;

/* A unit of an array. */
typedef struct spot {
  int array;
  size_t unit;
} spot;

/* Units that one lock protects: every critical section adds one number to all of them. */
typedef struct group {
  int lock, members;
  spot member[MAX_MEMBERS];
} group;

/* Units that some actors write one after the other, handing them over through an atomic flag or a lock. */
typedef struct relay {
  int by_lock, lock;
  int holders, holder[MAX_ACTORS];
  int members;
  spot member[MAX_RELAY];
} relay;

enum { NOBODY = -1, TAKEN = -2 }; /* owners that are no actors */

/* How one array is used in one phase. */
typedef struct layer {
  size_t unit, units; /* bytes of a unit (the last may be shorter), number of them */
  int16_t* owner;
} layer;

typedef struct phase {
  uint64_t key;
  int threads, actors; /* per rank, in all */
  int small_values;    /* so that bytes often return to an earlier value */
  layer layers[MAX_ARRAYS];
  int ngroups;
  group groups[MAX_GROUPS];
  int natomics;
  spot atomics[MAX_MEMBERS];
  relay relay;
} phase;

/* random_arrays.c */
void array_create(program* p);                                      /* collective */
void array_destroy(program* p, int index);                          /* collective */
void array_check_queries(const program* p, const array* a, rng* r); /* sms_home and sms_local_box */
void fail_at(const program* p, int index, size_t byte, const char* what) __attribute__((noreturn));

/* random_phase.c */
void phase_plan(program* p, phase* ph);
void phase_release(phase* ph, int narrays);
size_t unit_bytes(const program* p, const phase* ph, spot s);

/* random_actor.c: what one actor does in a phase, for real, or on the model alone. */
void actor_run(program* p, const phase* ph, int actor, int real);
void relay_apply(program* p, const phase* ph); /* on the model */

#endif
