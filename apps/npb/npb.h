/* npb.h: what the programs of the NAS Parallel Benchmarks here share, however their ranks talk to each other: the
 * random numbers, the command line, the clock, and the report in the form that the NPB have.
 *
 * Who owns what: a program owns its `npb` and its memory; strings belong to argv. Collective, called by all ranks (one
 * thread of each), blocking in team.max: npb_begin, npb_require, npb_start, npb_finish. Mistakes of the user end the
 * program there, with one message. The rest is local.
 */
#ifndef NPB_NPB_H
#define NPB_NPB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/clock.h"

/* The processes that run the program together. A single process leaves the functions NULL. */
typedef struct npb_team {
  int rank, count;
  double (*sum)(double mine);    /* of the ranks' values, the same in every rank; so a barrier too */
  void (*leave)(void);           /* ends the team: MPI_Finalize, or nothing */
  void* (*memory)(size_t bytes); /* zeroed, as much in every rank, until the end; NULL: the memory of the process */
} npb_team;

typedef struct npb {
  const char *benchmark, *program;
  npb_team team;
  char class;                  /* --class: S, W, A, B or C */
  bool json, accumulate, help; /* --accumulate: cg_xmp only */
  double started, seconds;
  void* arrays[16];     /* what npb_array has given and npb_finish frees */
  double communication; /* seconds spent in it, waiting for others included; the report has the average of the ranks */
} npb;

/* x <- a x mod 2^46, as all NPB draw their numbers, which are x / 2^46: in whole numbers, so the same bits everywhere.
 */
enum { NPB_BITS = 46 };
static const uint64_t npb_seed = 314159265, npb_multiplier = 1220703125; /* EP has another seed */

static inline uint64_t npb_random(uint64_t* x) {
  *x = *x * npb_multiplier & ((UINT64_C(1) << NPB_BITS) - 1);
  return *x;
}

/* The state after `count` numbers have been drawn from `seed` on. */
uint64_t npb_random_after(uint64_t seed, uint64_t count);

/* Reads the command line. `accumulates`: the program knows --accumulate. */
void npb_begin(npb* n, const char* benchmark, const char* program, npb_team team, bool accumulates, int argc,
               char** argv);

/* Ends the program unless `good`, which is the same in all ranks; rank 0 says why, with a remedy. */
__attribute__((format(printf, 3, 4))) void npb_require(const npb* n, bool good, const char* pattern, ...);

/* Memory on a cache line's border, zeroed; never NULL. */
void* npb_memory(const npb* n, size_t count, size_t size);

/* The same until npb_finish, from team.memory if there is one: for large arrays. Then collective, with the same size.
 */
void* npb_array(npb* n, size_t count, size_t size);

/* The sum over the ranks. */
double npb_sum(const npb* n, double mine);

/* Start the clock at the same time in all ranks, and stop it when the last one is done. */
void npb_start(npb* n);
void npb_stop(npb* n);

/* Prints the report, leaves the team, returns the exit status. `operations` in millions; `detail` says in a few words
 * what was compared with the published answer. */
int npb_finish(npb* n, bool verified, long size, int iterations, double operations, const char* kind,
               const char* detail);

#endif
