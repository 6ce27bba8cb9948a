/* mpi_team.h: the team of a variant over MPI, and how its tasks wait for messages. Values and small functions, for such
 * variants only: the harness itself knows no library. */
#ifndef APPS_COMMON_MPI_TEAM_H
#define APPS_COMMON_MPI_TEAM_H

#include <mpi.h>
#include <sched.h>

#include "team.h"

static inline double mpi_over_ranks(double mine, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return mine;
}

static inline double mpi_max(double mine) { return mpi_over_ranks(mine, MPI_MAX); }
static inline double mpi_sum(double mine) { return mpi_over_ranks(mine, MPI_SUM); }
static inline void mpi_leave(void) { MPI_Finalize(); }

/* Starts MPI for threads of this level, such as MPI_THREAD_FUNNELED. Ends the program where MPI offers less. */
static inline team mpi_team(const char* program, int* argc, char*** argv, int level) {
  int provided;
  team team = {0};
  team.max = mpi_max;
  team.sum = mpi_sum;
  team.leave = mpi_leave;
  team.program = program;
  MPI_Init_thread(argc, argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.count);
  team_agree(&team, provided >= level, TEAM_BAD_INPUT,
             "this MPI offers threads of level %d only, not the level %d that this program needs", provided, level);
  return team;
}

/* ---- synchronisation tasks: figures 2 and 5 of the A64FX task paper ---------------------------------------------- */

/* Waits for a message in a task. taskyield may do nothing (it does in GCC), so a core that another thread needs is
 * given up, too. */
static inline void mpi_sync(MPI_Request* request) {
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
#pragma omp taskyield
    sched_yield();
  }
}

/* At most threads-1 tasks may wait for messages at a time, so that one thread is left for the tasks that send: each
 * synchronisation task names the next of these slots as a dependence of type out, which also keeps their order. With
 * one thread there is one slot; that alone does not prevent a deadlock, so tasks must then run in the order in which
 * they are created: `task if(threads > 1)`. */
enum { MPI_SLOTS = 1024 };
typedef struct mpi_slots {
  int count, next;
  char slot[MPI_SLOTS];
} mpi_slots;

static inline void mpi_slots_open(mpi_slots* slots, int threads) {
  slots->count = smaller(larger(threads - 1, 1), MPI_SLOTS);
  slots->next = 0;
}

/* The dependence of the next synchronisation task; for the thread that creates them. */
static inline char* mpi_next_slot(mpi_slots* slots) {
  char* const slot = &slots->slot[slots->next];
  if (++slots->next == slots->count) slots->next = 0;
  return slot;
}

#endif
