/* smint.h: serial C plus directives, after the SMint notation of the mSMS paper (Midorikawa et al., jh190039-ISH,
 * 2019). hirobacc translates each directive into the calls below, so the same program can be written with any C
 * compiler:
 *
 *   #pragma SMint shared ::[NPROCS][](0,NPROCS)     smint_declare, sms_mapalloc
 *   #pragma SMint parallel for                      smint_begin, smint_next
 *   #pragma SMint parallel for tasks tile(128,128)  smint_tasks, smint_taskwait
 *   #pragma SMint parallel for device(2)            smint_devices
 *   #pragma SMint single copy(x)                    smint_single, smint_copy
 *   #pragma SMint critical (name)                   sms_lock, sms_unlock
 *   #pragma SMint barrier                           sms_barrier
 *   #pragma SMint preload A[0:n][0:m]               sms_preload
 *
 * docs/memory-model.md defines the meaning of code outside these constructs (every rank runs it), and of loops.
 * Threads: the thread that calls sms_barrier makes these calls. Errors end the job. */
#ifndef HIROBA_SMINT_H
#define HIROBA_SMINT_H

#include "sms.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef _OPENACC
#include <openacc.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MYPID sms_rank
#define NPROCS sms_nprocs

/* Starts the job, if it has not started yet, and ends it when the program ends with status 0; hirobacc inserts it at
 * the beginning of main(). argc and argv may be NULL. Collective; blocks. */
void smint_start(int* argc, char*** argv);

/* ---- shared arrays at file scope ------------------------------------------------------------------------------- */

/* An array that sms_startup allocates, in the order of the declarations: place() allocates it. A constructor function
 * calls this before sms_startup; `array` must remain valid. */
typedef struct smint_array {
  void (*place)(void);
  struct smint_array* next;
} smint_array;
void smint_declare(smint_array* array);

/* As sms_mapalloc_large, with a name in the program, and for any number of ranks: the first rank counts modulo
 * NPROCS, and a dimension is divided into fewer pieces if there are fewer ranks, or fewer indices. */
void* smint_allocate(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count, const char* name,
                     const char* place);

/* sms_set_scalar; returns the array. */
void* smint_scalars(void* array, size_t bytes);

/* True on rank 0, after all ranks have made the call and their writes are visible to it. A barrier must follow. */
int smint_single(void);
/* Every rank gets rank 0's bytes. Collective; orders execution only. At most 128 MiB. */
void smint_copy(void* data, size_t bytes, const char* place);

/* ---- loops that all ranks share ---------------------------------------------------------------------------------- */

#define SMINT_LOOPS 8
#define SMINT_DIMS 8
#define SMINT_SHARED 3 /* the most perfectly nested loops that are distributed together */

/* The elements of an affine access: with loop variables v[0] (of the distributed loop), v[1].. (of loops inside it),
 * index d runs from low[d] to high[d], each plus the sum of factor[d][k] * v[k]. */
typedef struct smint_access {
  const char* text; /* "src[z-1][y][x]", for messages */
  const void* base; /* the element whose indices are all 0 */
  int flags;        /* SMINT_... */
  int dims;
  int64_t element;            /* bytes */
  int64_t stride[SMINT_DIMS]; /* bytes from one index to the next */
  int64_t low[SMINT_DIMS], high[SMINT_DIMS];
  int64_t factor[SMINT_DIMS][SMINT_LOOPS];
} smint_access;
enum {
  SMINT_READS = 1,
  SMINT_WRITES = 2,
  SMINT_OWNS = 4,      /* the home of this element computes the iteration */
  SMINT_PERHAPS = 8,   /* not in every iteration */
  SMINT_ANYWHERE = 16, /* subscripts that are not known: `base` is any element; for option check */
  SMINT_INDIRECT = 32  /* `base` is the address of the pointer to that element, so the access can be a constant */
};

/* The values of a loop variable: first, first + step, .. below end (above end, if step < 0). */
typedef struct smint_values {
  int64_t first, end, step;
} smint_values;

/* For loops whose ends are real numbers. */
static inline int64_t smint_floor(double x) {
  const int64_t i = (int64_t)x;
  return i - ((double)i > x);
}
static inline int64_t smint_ceil(double x) {
  const int64_t i = (int64_t)x;
  return i + ((double)i < x);
}

enum {
  SMINT_NOWAIT = 1,   /* no barrier at the end */
  SMINT_COLLAPSE = 8, /* iterations of the loops nested inside are independent, too, whatever arrays overlap */
  SMINT_KNOWN = 4,    /* the loop makes no other accesses; for option check */
  SMINT_DROP = 2,     /* the barrier is sms_sync_drop: the next loop fetches all that it reads */
  /* With SMINT_KNOWN and SMINT_DROP: no barrier at the end. The next loop waits, but only for ranks with which one of
   * the two loops shares data, or smint_settle for all: over a network in smint_begin; elsewhere smint_next may first
   * return iterations that share none. Until then the program uses no shared data and synchronises in no other way. */
  SMINT_LATER = 16,
  /* Ranks take known[0] iterations of the outermost loop at a time: of their own first, then of those that other
   * ranks of the node have left, then of other nodes, many chunks at once. Ends with a barrier, SMINT_NOWAIT or not,
   * because iterations of a rank may be under way elsewhere. Each rank has its own iterations under option check. */
  SMINT_DYNAMIC = 32,
  SMINT_GUIDED = 64 /* the same, with larger chunks while many iterations are left */
};

/* A loop without what is known at run time only, so that it can be a constant, which costs the C compiler little. The
 * first `shared` of its `depth` loops are nested perfectly and distributed together. The first `count` accesses
 * determine the iterations of each rank and the data to fetch. For option check, the `touch_count` accesses from number
 * `touches` on are those of the program, to detect that two ranks access the same bytes between two barriers. A patch
 * stores known[value], of smint_begin, in the 8 bytes number `word` of an access: its base, element, or a number of
 * stride, low, high or factor. `place`, "file:line", is for messages. */
typedef struct smint_patch {
  short access, word, value;
} smint_patch;
typedef struct smint_plan {
  const smint_access* accesses;
  int count, touches, touch_count;
  const smint_patch* patches; /* ordered by access */
  int patch_count;
  int depth, shared;
  int flags;
  const char* place;
} smint_plan;

/* Part of the iterations of this rank, in the order of the program. first[k] and end[k] are those of the loops nested
 * inside, if they are distributed, too. */
typedef struct smint_part {
  int64_t first[SMINT_SHARED], end[SMINT_SHARED];
} smint_part;

/* The threads that share each chunk of a loop of OpenMP. */
static inline int64_t smint_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* Determines the iterations of this rank, and starts to fetch the data that they use. Waits for other ranks only where
 * an earlier loop has deferred its barrier (SMINT_LATER): then this call is collective and may block. Otherwise it is
 * neither. Every iteration belongs to exactly one rank. No other loop begins before the end of this one. */
void smint_begin(const smint_plan* plan, const smint_values values[], const int64_t known[]);
/* The serial loop that follows is about to write all elements of these accesses: makes memory for them at once, where
 * they are in new arrays. Neither collective nor needed. */
void smint_fill(const smint_plan* plan, const smint_values values[], const int64_t known[]);
/* The next part, valid until the next call; the parts are in any order, because iterations without data of other nodes
 * run while that data is in transit. May block until data has arrived. If there is none left: ends the loop and returns
 * NULL; collective and blocks, unless SMINT_NOWAIT or SMINT_LATER. */
const smint_part* smint_next(void);
/* Two accesses of a loop, to be compared where it depends on values of the run if one iteration uses what another one
 * writes. There are `variables` numbers: those of the first access, and from `second` on those of the other one; each
 * list begins with the number of the iteration, from 0 on. A row is 1 + `variables` long: a constant, and the factor of
 * each. The loop's variable and place are for messages. */
typedef struct smint_pair {
  const char *written, *other, *place, *variable;
  int variables, second, equal;
} smint_pair;
/* Returns 1 if both addresses are in the same shared array. Neither collective nor blocking. */
int smint_near(const void* written, const void* other);
/* Ends the job with a message if there are two different iterations and numbers for which the `pair->equal` rows of
 * `equal` are 0 (both are the same element), and the `count` rows of `least` at least 0 (the loops and conditions
 * around the accesses have these numbers). `values` are those of the loop's variable. Neither collective nor blocking.
 */
void smint_apart(const smint_pair* pair, const int64_t equal[], const int64_t least[], int count,
                 const smint_values* values);
/* Between smint_begin and the first smint_next, for loops whose accesses are not affine but the same each time: the
 * first execution with these arrays (those of the accesses that are not affine, in their order: swapped pointers make
 * two first executions) records the pages of other nodes that the loop uses, and later ones start to fetch them all at
 * once. `memo` is zero at first, and belongs to this loop. Not collective; does not block. */
typedef struct smint_memo {
  void* pages;
} smint_memo;
void smint_recall(smint_memo* memo, const void* const arrays[], int count);

void smint_settle(void); /* the barrier that SMINT_LATER has deferred, if any; collective and blocks */

/* ---- reductions over ranks (collective, blocking; in rank order) ------------------------------------------------- */

enum smint_operator {
  SMINT_SUM,
  SMINT_PROD,
  SMINT_MIN,
  SMINT_MAX,
  SMINT_BITAND,
  SMINT_BITOR,
  SMINT_BITXOR,
  SMINT_AND,
  SMINT_OR
};
double smint_reduce_double(double value, enum smint_operator op);
int64_t smint_reduce_int64(int64_t value, enum smint_operator op);
/* The same for `count` numbers of any arithmetic type, of `element` bytes each; they become the results on all
 * ranks. */
enum smint_type { SMINT_SIGNED, SMINT_UNSIGNED, SMINT_REAL, SMINT_COMPLEX };
void smint_reduce(void* data, int64_t count, size_t element, enum smint_type type, enum smint_operator op,
                  const char* place);

/* ---- loops on devices -------------------------------------------------------------------------------------------- */

/* Iterations for a device: first, first + step, .. below end of the outermost loop (above end, if step < 0), and for
 * each access of the plan the address on the device of the element whose indices are all 0. */
enum { SMINT_ACCESSES = 32 };
typedef struct smint_share {
  int64_t first, end;
  int gpu; /* number of the device among the GPUs of the machine; -1: a host device */
  void* base[SMINT_ACCESSES];
  void* const* reduced; /* for each reduction its numbers, which the body replaces by those of this share */
} smint_share;
/* A loop reduces private numbers of each rank, as smint_reduce does. */
typedef struct smint_reduction {
  void* data;
  int64_t count;
  size_t element;
  enum smint_type type;
  enum smint_operator op;
} smint_reduction;
/* body(copy of the `bytes` bytes at `data`, of which the first are a smint_share that smint_devices sets) computes a
 * share. In a directive of OpenACC or OpenMP it uses what smint_use_openacc or smint_use_openmp selects. */
typedef struct smint_device_loop {
  const char* name;
  void (*body)(void* data);
  const void* data;
  size_t bytes;
  int devices; /* of each rank; 0: all that it has */
  int gpus;    /* that body can use: smint_gpus_openacc or smint_gpus_openmp */
  const smint_reduction* reductions;
  int reduced; /* number of reductions */
} smint_device_loop;
/* Executes a loop on devices (device.h), whose accesses are all in the plan: each rank divides its iterations of the
 * outermost loop among its devices, by the speed that it has measured; what they use is preloaded, and what they write
 * is overloaded. Each share begins with a copy of what is reduced; the results are combined into it, in the order of
 * the shares' iterations. Iterations of the outermost loop write different rows. Ends as a loop does whose last
 * smint_next returns NULL: collective and blocks, unless SMINT_NOWAIT. */
void smint_devices(const smint_plan* plan, const smint_values values[], const int64_t known[],
                   const smint_device_loop* loop);

/* Return the number of GPUs that directives of this file can use: 0 if its compiler does not translate them, or not for
 * GPUs. */
static inline int smint_gpus_openacc(void) {
#ifdef _OPENACC
  return acc_get_num_devices(acc_device_nvidia);
#else
  return 0;
#endif
}
static inline int smint_gpus_openmp(void) {
#ifdef _OPENMP
  return omp_get_num_devices();
#else
  return 0;
#endif
}
/* Select a GPU, or with -1 the processor, for directives that this thread executes. */
static inline void smint_use_openacc(int gpu) {
#ifdef _OPENACC
  if (gpu < 0) acc_set_device_type(acc_device_host);
  else acc_set_device_num(gpu, acc_device_nvidia);
#else
  (void)gpu;
#endif
}
static inline void smint_use_openmp(int gpu) {
#ifdef _OPENMP
  omp_set_default_device(gpu < 0 ? omp_get_initial_device() : gpu);
#else
  (void)gpu;
#endif
}

/* ---- loops whose tiles are tasks -------------------------------------------------------------------------------- */

/* value + the sum of factor[k] * v[k], over the variables of the outer loops. */
typedef struct smint_affine {
  int64_t value, factor[SMINT_LOOPS];
} smint_affine;
/* The values of a loop variable: first, first + step, .. below end and below limit; or above end, if step < 0. With
 * `value` it is no loop, but a subscript's result for each value v of the variable number `of`: value(data, v). */
typedef struct smint_span {
  smint_affine first, end, limit;
  int64_t step;
  int64_t (*value)(const void* data, int64_t v);
  const void* data;
  int of;
} smint_span;
static inline int64_t smint_no_limit(void) { return INT64_MAX / 4; }
enum { SMINT_TILE_AUTO = -1 };

/* The values of a task for the first loops: first[k] <= v[k] < end[k]. */
typedef struct smint_tile {
  int64_t first[SMINT_SHARED], end[SMINT_SHARED];
} smint_tile;
/* Return the first value of a loop that is in a tile, and its end there; _down: for a loop with step < 0. */
static inline int64_t smint_from(int64_t first, int64_t begin, int64_t step) {
  return first >= begin ? first : first + (begin - first + step - 1) / step * step;
}
static inline int64_t smint_until(int64_t end, int64_t tile_end) { return end < tile_end ? end : tile_end; }
static inline int64_t smint_from_down(int64_t first, int64_t tile_end, int64_t step) {
  return first < tile_end ? first : first - (first - tile_end - step) / -step * -step;
}
static inline int64_t smint_until_down(int64_t end, int64_t begin) { return end >= begin ? end : begin - 1; }

/* Cuts the outermost `tiled` of the `depth` loops at the multiples of tile[k] (SMINT_TILE_AUTO: the library
 * chooses), and makes a task (task.h) of each tile that has iterations, in the order of the loops: body(copy of the
 * `bytes` bytes at `data`, of which the first are a smint_tile that this call sets). It uses the bounding sections
 * of the accesses, whose low and high are equal, so all accesses must be listed. task.h defines the ranks and the
 * order of tasks. `label` lives as long as the program. Every rank makes the call; it returns before they have run. */
typedef struct smint_label {
  const char *name, *place;
} smint_label;
void smint_tasks(void (*body)(void*), void* data, size_t bytes, const smint_access accesses[], int count,
                 const smint_span loops[], int depth, const int64_t tile[], int tiled, const smint_label* label);
/* `table`, named `text` in the program, is read when tasks are created: ends the job if it is shared memory, which
 * tasks may not have written yet. */
void smint_known(const void* table, const char* text, const char* place);
/* Waits until all tasks have ended; all shared memory is then as after sms_barrier. Collective; blocks. */
void smint_taskwait(const char* place);

#ifdef __cplusplus
}
#endif
#endif
