/* Sound in a box with MPI: the rival. Each rank has its planes and copies of HALO planes of each neighbour, which
 * arrive while the planes that need none are updated. */
#include "../common/mpi_team.h"
#include "fdtd.h"

enum { UP = 1, DOWN = 2 };

typedef struct exchange {
  MPI_Request request[4];
  int requests;
} exchange;

/* Starts to bring `below` planes of the rank below, and `above` of the one above; `array` as in fields. */
static exchange start(const fdtd* f, double* array, int below, int above) {
  exchange e = {.requests = 0};
  const int mine = smaller(above, f->last - f->first), theirs = smaller(above, f->size[2] + 2 * PAD - f->last);
  const int count = (int)f->plane, rank = f->team.rank; /* main refuses larger planes */
  if (mine > 0 && f->first > 0) {
    MPI_Irecv(array + (f->first - below) * f->plane, below * count, MPI_DOUBLE, rank - 1, UP, MPI_COMM_WORLD,
              &e.request[e.requests++]);
    MPI_Isend(array + f->first * f->plane, mine * count, MPI_DOUBLE, rank - 1, DOWN, MPI_COMM_WORLD,
              &e.request[e.requests++]);
  }
  if (mine > 0 && theirs > 0) {
    MPI_Irecv(array + f->last * f->plane, theirs * count, MPI_DOUBLE, rank + 1, DOWN, MPI_COMM_WORLD,
              &e.request[e.requests++]);
    MPI_Isend(array + (f->last - below) * f->plane, below * count, MPI_DOUBLE, rank + 1, UP, MPI_COMM_WORLD,
              &e.request[e.requests++]);
  }
  return e;
}

static void finish(exchange* e) { MPI_Waitall(e->requests, e->request, MPI_STATUSES_IGNORE); }

static void exchange_p(const fdtd* f, double* p) {
  exchange e = start(f, p, READ_BELOW_OF_P, READ_ABOVE_OF_P);
  finish(&e);
}

int main(int argc, char** argv) {
  const team team = mpi_team("fdtd_mpi", &argc, &argv, MPI_THREAD_FUNNELED);
  fdtd f;
  fdtd_begin(&f, team.program, team, argc, argv);
  const int piece = (f.size[2] + 2 * PAD + team.count - 1) / team.count;
  team_agree(&f.team, piece >= HALO || team.count == 1, TEAM_BAD_INPUT,
             "%d ranks have %d plane each, and exchange %d; use fewer ranks or a larger --size", team.count, piece,
             HALO);
  team_agree(&f.team, f.plane <= INT32_MAX / HALO, TEAM_BAD_INPUT, "a plane has more numbers than MPI sends at once");

  fields a = fdtd_private(&f, HALO);
  fdtd_fill(&f, &a);
  exchange_p(&f, a.p);
  fdtd_check_begin(&f, &a);

  fdtd_start(&f);
  bool more = true;
  for (int step = f.step + 1, depth; step <= f.steps && more; step += depth) {
    depth = fdtd_depth(&f, step);
    for (int k = 0; k < depth; k++) {
      update_u_ends(&f, &a, k);
      exchange e = start(&f, a.u[2], READ_BELOW_OF_U, READ_ABOVE_OF_U);
      if (k == 0) update_bands(&f, &a, step, depth);
      finish(&e);
      update_p_ends(&f, &a, step, k);
      exchange_p(&f, a.p);
    }
    more = fdtd_step(&f, step + depth - 1, &a);
  }
  run_stop(&f.run);
  return fdtd_finish(&f, &a, NULL);
}
