/* Sound in a box with MPI: the rival. Each rank has its planes and copies of HALO planes of each neighbour, which
 * arrive while the inner planes are updated. */
#include <mpi.h>

#include "fdtd.h"

static double over_ranks(double mine, MPI_Op op) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return all;
}

static double max_over_ranks(double mine) { return over_ranks(mine, MPI_MAX); }

static double sum_over_ranks(double mine) { return over_ranks(mine, MPI_SUM); }

static void leave(void) { MPI_Finalize(); }

enum { UP = 1, DOWN = 2 };

typedef struct exchange {
  MPI_Request request[4];
  int requests;
} exchange;

/* Starts to bring the planes beside ours; `array` as in fields. */
static exchange start(const fdtd* f, double* array) {
  exchange e = {.requests = 0};
  const int planes = f->size[2] + 2 * PAD, mine = smaller(HALO, f->last - f->first);
  const int theirs = smaller(HALO, planes - f->last), rank = f->team.rank;
  const int count = (int)f->plane; /* fdtd_begin refuses larger planes */
  if (mine > 0 && f->first > 0) {
    MPI_Irecv(array + (f->first - HALO) * f->plane, HALO * count, MPI_DOUBLE, rank - 1, UP, MPI_COMM_WORLD,
              &e.request[e.requests++]);
    MPI_Isend(array + f->first * f->plane, mine * count, MPI_DOUBLE, rank - 1, DOWN, MPI_COMM_WORLD,
              &e.request[e.requests++]);
  }
  if (mine > 0 && theirs > 0) {
    MPI_Irecv(array + f->last * f->plane, theirs * count, MPI_DOUBLE, rank + 1, DOWN, MPI_COMM_WORLD,
              &e.request[e.requests++]);
    MPI_Isend(array + (f->last - HALO) * f->plane, HALO * count, MPI_DOUBLE, rank + 1, UP, MPI_COMM_WORLD,
              &e.request[e.requests++]);
  }
  return e;
}

static void finish(exchange* e) { MPI_Waitall(e->requests, e->request, MPI_STATUSES_IGNORE); }

typedef void update(fdtd* f, const fields* a, int z0, int z1);

/* The inner planes while those beside ours arrive, then the others, which read `below` and `above` of them. */
static void overlapped(update* all, fdtd* f, const fields* a, double* array, int below, int above) {
  exchange e = start(f, array);
  const int inner = f->first > 0 ? smaller(f->lo + below, f->hi) : f->lo;
  const int inner_end = f->last < f->size[2] + 2 * PAD ? larger(f->hi - above, inner) : f->hi;
  all(f, a, inner, inner_end);
  finish(&e);
  all(f, a, f->lo, inner);
  all(f, a, inner_end, f->hi);
}

int main(int argc, char** argv) {
  int provided;
  team team = {.max = max_over_ranks, .sum = sum_over_ranks, .leave = leave};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.count);
  fdtd f;
  fdtd_begin(&f, "fdtd_mpi", team, argc, argv);
  const int piece = (f.size[2] + 2 * PAD + team.count - 1) / team.count;
  team_agree(&f.team, piece >= HALO || team.count == 1, TEAM_BAD_INPUT,
             "%d ranks have %d plane each, and exchange %d; use fewer ranks or a larger --size", team.count, piece,
             HALO);
  team_agree(&f.team, f.plane <= INT32_MAX / HALO, TEAM_BAD_INPUT, "a plane has more numbers than MPI sends at once");

  fields a = fdtd_private(&f, HALO);
  fdtd_fill(&f, &a);
  exchange first = start(&f, a.p);
  finish(&first);
  fdtd_check_begin(&f, &a);

  fdtd_start(&f);
  bool more = true;
  for (int step = f.step + 1; step <= f.steps && more; step++) {
    overlapped(update_all_u, &f, &a, a.p, 2, 1);
    overlapped(update_all_p, &f, &a, a.u[2], 1, 2);
    fdtd_sources(&f, step, &a, f.lo, f.hi);
    more = fdtd_step(&f, step, &a);
  }
  run_stop(&f.run);
  exchange last = start(&f, a.p);
  finish(&last);
  return fdtd_finish(&f, &a, NULL);
}
