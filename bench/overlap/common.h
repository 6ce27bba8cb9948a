/* common.h: the overlap benchmark without its communication, so that its contestants (mpi.c, hiroba.c) differ in the
 * calls only.
 *
 * A contestant fills in a `library` and calls overlap(), which reads the options, places the threads, measures, checks
 * and prints. Everything here is called by the main thread; the calls of a library block until they are complete, but
 * for `start` and `test`. At most one collective is outstanding.
 */
#ifndef OVERLAP_COMMON_H
#define OVERLAP_COMMON_H

enum collective {
  ALLTOALL,
  ALLREDUCE,
  BCAST,
  REDUCE,
  ALLGATHER,
  GATHER,
  SCATTER,
  REDUCE_SCATTER,
  SCAN,
  BARRIER,
  COLLECTIVES
};

/* One collective over all ranks, of doubles; reductions are sums, and the root, where there is one, is rank 0.
 * `count` is the number of doubles that one rank has for each destination: MPI's count of every collective here. */
typedef struct transfer {
  enum collective kind;
  int count;
  double* send;
  double* recv; /* of a broadcast: the only buffer */
} transfer;

typedef struct library {
  const char* name; /* with its version */
  int rank, ranks;
  int local_rank, local_ranks; /* among the ranks that share this machine */
  void (*call)(const transfer* t);
  void (*start)(const transfer* t);
  void (*test)(void); /* of what was started and not waited for */
  void (*wait)(void);
  void (*region)(int begins); /* where progress is wanted begins or ends; NULL: the library has no such calls */
  void (*largest)(double* values, int count); /* of all ranks, in place, at every rank */
  void (*end_job)(int status);                /* of all ranks; does not return */
} library;

/* The whole benchmark; returns the exit status, the same at every rank. */
int overlap(int argc, char** argv, const library* of);

#endif
