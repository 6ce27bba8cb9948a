/* The 27-point stencil with MPI and the threads of OpenMP: the rival. Every rank keeps its planes and copies of `depth`
 * planes on either side, which are on their way while it computes what does not need them. */
#include "../common/mpi_team.h"
#include "stencil27.h"

enum { UP, DOWN }; /* message tags: the way that planes travel */

typedef struct halo {
  MPI_Request request[4];
  int requests;
} halo;

/* Sends what the neighbours read in the next `steps` steps, and receives what this rank reads. A rank that has fewer
 * planes is the last one, or has none beside it. */
static halo start_halo(const job* job, double* field, int steps, int64_t* exchanges) {
  halo h = {.requests = 0};
  const int rank = job->team.rank, mine = smaller(steps, job->last - job->first);
  const int above = smaller(steps, job->nz + 2 - job->last), count = (int)job->plane_points;
  if (steps == 0 || mine == 0) return h;
  double *const first = field + job->first * job->plane_points, *const end = field + job->last * job->plane_points;
  if (rank > 0) {
    MPI_Irecv(first - steps * job->plane_points, steps * count, MPI_DOUBLE, rank - 1, UP, MPI_COMM_WORLD,
              &h.request[h.requests++]);
    MPI_Isend(first, mine * count, MPI_DOUBLE, rank - 1, DOWN, MPI_COMM_WORLD, &h.request[h.requests++]);
  }
  if (above > 0) {
    MPI_Irecv(end, above * count, MPI_DOUBLE, rank + 1, DOWN, MPI_COMM_WORLD, &h.request[h.requests++]);
    MPI_Isend(end - steps * job->plane_points, steps * count, MPI_DOUBLE, rank + 1, UP, MPI_COMM_WORLD,
              &h.request[h.requests++]);
  }
  *exchanges += h.requests / 2;
  return h;
}

static void finish_halo(halo* h) { MPI_Waitall(h->requests, h->request, MPI_STATUSES_IGNORE); }

int main(int argc, char** argv) {
  const team team = mpi_team(PROGRAM, &argc, &argv, MPI_THREAD_FUNNELED);
  stencil27 s;
  stencil27_begin(&s, PROGRAM, team, argc, argv);
  job* job = &s.job;
  const int piece = (job->nz + 2 + team.count - 1) / team.count;
  team_agree(&job->team, piece >= s.depth || team.count == 1, TEAM_BAD_INPUT,
             "%d ranks have %d planes each, and exchange %d; use fewer ranks, or a smaller --depth", team.count, piece,
             s.depth);
  team_agree(&job->team, job->plane_points <= INT32_MAX / s.depth, TEAM_BAD_INPUT,
             "%d planes have more numbers than MPI sends at once; use a smaller --depth", s.depth);

  /* The copies lie before and after the planes of this rank; the field is where plane 0 would lie. */
  const int planes = job->last - job->first + 2 * s.depth;
  double* fields[2];
  for (int i = 0; i < 2; i++)
    fields[i] = (double*)job_private(job, planes) - (job->first - s.depth) * job->plane_points;
  double *src = fields[0], *dst = fields[1];
  const ptrdiff_t own = job->first * job->plane_points;
  job_fill(job, src + own, dst + own);

  int64_t exchanges = 0;
  halo h = start_halo(job, src, job_depth(job, job->step, s.depth), &exchanges);
  finish_halo(&h);
  job_start(job);
  bool more = true;
  for (int t = job->step, steps; t < job->steps && more; t += steps) {
    steps = job_depth(job, t, s.depth);
    const int next = job_depth(job, t + steps, s.depth);
    advance_ends(&s, src, dst, steps);
    h = start_halo(job, dst, next, &exchanges);
    advance_inside(&s, src, dst, steps);
    finish_halo(&h);
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(job, t + steps, src + own);
  }
  job_stop(job);

  const counter counters[] = {{"halos", (int64_t)team_sum(&job->team, (double)exchanges)}, {NULL, 0}};
  return stencil27_finish(&s, src + own, counters);
}
