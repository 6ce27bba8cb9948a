#include "panels.h"

#include <stdlib.h>

#include "../common/memory.h"

typedef struct panels {
  int depth;
  double* copies;
  MPI_Request* requests; /* as many for each place as there are ranks */
} panels;

static size_t place(const cholesky* c, int i, int k) {
  const panels* p = c->own;
  return (size_t)(k % p->depth) * (size_t)c->tiles + (size_t)i;
}

void panels_open(cholesky* c, int depth) {
  const size_t places = (size_t)depth * (size_t)c->tiles, requests = places * (size_t)c->run.team.count;
  cholesky_private(c);
  panels* const p = malloc(sizeof *p);
  if (p != NULL)
    *p = (panels){.depth = depth,
                  .copies = memory_pages(places * (size_t)c->tile * (size_t)c->tile * sizeof(double)),
                  .requests = malloc(requests * sizeof(MPI_Request))};
  team_agree(&c->run.team, p != NULL && p->copies != NULL && p->requests != NULL, TEAM_BAD_INPUT,
             "no memory for copies of tiles; use a smaller --tile");
  for (size_t r = 0; r < requests; r++) p->requests[r] = MPI_REQUEST_NULL;
  c->own = p;
}

void panels_close(cholesky* c) {
  panels* const p = c->own;
  free(p->copies);
  free(p->requests);
  free(p);
  c->own = NULL;
}

static double* copy_of(const cholesky* c, int i, int k) {
  const panels* p = c->own;
  return p->copies + place(c, i, k) * (size_t)c->tile * (size_t)c->tile;
}

const double* panels_tile(const cholesky* c, int i, int k) {
  return cholesky_mine(c, i, k) ? cholesky_tile(c, i, k) : copy_of(c, i, k);
}

static MPI_Request* requests_of(const cholesky* c, int i, int k) {
  const panels* p = c->own;
  return p->requests + place(c, i, k) * (size_t)c->run.team.count;
}

const MPI_Request* panels_requests(const cholesky* c, int i, int k) { return requests_of(c, i, k); }

/* The first number from `from` on that leaves this remainder. */
static int next(int from, int remainder, int divisor) {
  return from + (remainder - from % divisor + divisor) % divisor;
}

/* A rank needs (k, k) for its tiles below, and (i, k) for those in row i from column k+1 on, and in column i. */
static bool needed(const cholesky* c, int rank, int i, int k) {
  const int row = rank / c->columns, column = rank % c->columns;
  if (i == k) return k % c->columns == column && next(k + 1, row, c->rows) < c->tiles;
  return (i % c->rows == row && next(k + 1, column, c->columns) <= i) ||
         (i % c->columns == column && next(i, row, c->rows) < c->tiles);
}

bool panels_moves(const cholesky* c, int i, int k) {
  if (!cholesky_mine(c, i, k)) return needed(c, c->run.team.rank, i, k);
  for (int rank = 0; rank < c->run.team.count; rank++)
    if (rank != c->run.team.rank && needed(c, rank, i, k)) return true;
  return false;
}

void panels_start(cholesky* c, int i, int k) {
  const double start = team_now();
  const int count = (int)cholesky_numbers(c, i, k), tag = (int)place(c, i, k);
  MPI_Request* const requests = requests_of(c, i, k);
  if (!cholesky_mine(c, i, k)) {
    if (needed(c, c->run.team.rank, i, k))
      MPI_Irecv(copy_of(c, i, k), count, MPI_DOUBLE, cholesky_rank(c, i, k), tag, MPI_COMM_WORLD, requests);
  } else {
    for (int rank = 0; rank < c->run.team.count; rank++)
      if (rank != c->run.team.rank && needed(c, rank, i, k))
        MPI_Isend(cholesky_tile(c, i, k), count, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &requests[rank]);
  }
  cholesky_spent(c, CHOLESKY_COMM, start);
}

void panels_finish(cholesky* c, int i, int k) {
  const double start = team_now();
  MPI_Request* const requests = requests_of(c, i, k);
  for (int r = 0; r < c->run.team.count; r++)
    if (requests[r] != MPI_REQUEST_NULL) mpi_sync(&requests[r]);
  cholesky_spent(c, CHOLESKY_COMM, start);
}

void panels_gather(cholesky* c, int k, const double* tile[]) {
  for (int i = k; i < c->tiles; i++) {
    double* const to = cholesky_mine(c, i, k) ? cholesky_tile(c, i, k) : copy_of(c, i, k);
    MPI_Bcast(to, (int)cholesky_numbers(c, i, k), MPI_DOUBLE, cholesky_rank(c, i, k), MPI_COMM_WORLD);
    tile[i] = to;
  }
}
