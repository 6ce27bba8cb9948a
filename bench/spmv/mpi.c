/* The rival: each rank keeps its rows, and behind its part of x a copy of each element of others that they use. Who
 * needs what is found once from the columns; then each step packs what others need into one message for each of them,
 * and multiplies the rows that use nothing of others while the messages travel. */
#include <mpi.h>

#include "common.h"

/* The rows of this rank, whose columns count from its first element, those that come behind its own. */
typedef struct matrix {
  int first, rows, block; /* of the whole matrix's, and how many other ranks have */
  int lo, hi;             /* rows between use nothing of others */
  int *start, *column;
  double* value;
} matrix;

typedef struct neighbour {
  int rank, first, count; /* its elements, among those that come; or that go */
} neighbour;

typedef struct gather {
  int ins, outs, coming, going;
  neighbour *in, *out;
  int* index; /* of each element that goes */
  double* packed;
  MPI_Request* requests;
} gather;

static int by_number(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static matrix make_matrix(int rank, int ranks) {
  matrix m = {.block = (ROWS + ranks - 1) / ranks};
  m.first = smaller(rank * m.block, ROWS), m.rows = smaller(m.first + m.block, ROWS) - m.first;
  const int entries = row_start(m.first + m.rows) - row_start(m.first);
  m.start = zeroes((m.rows + 1) * sizeof *m.start);
  m.column = zeroes((entries + 1) * sizeof *m.column);
  m.value = zeroes((entries + 1) * sizeof *m.value);
  for (int i = 0; i <= m.rows; i++) m.start[i] = row_start(m.first + i) - row_start(m.first);
  for (int i = 0; i < m.rows; i++) fill_row(m.first + i, &m.column[m.start[i]], &m.value[m.start[i]]);
  return m;
}

/* The columns of others, each once, in the order of their owners. */
static int columns_of_others(const matrix* m, int* out) {
  int all = 0, unique = 0;
  for (int k = 0; k < m->start[m->rows]; k++)
    if (m->column[k] < m->first || m->column[k] >= m->first + m->rows) out[all++] = m->column[k];
  qsort(out, all, sizeof *out, by_number);
  for (int g = 0; g < all; g++)
    if (unique == 0 || out[unique - 1] != out[g]) out[unique++] = out[g];
  return unique;
}

/* The ranks with a count, as neighbours in order. */
static int neighbours(const int* counts, int ranks, neighbour* out) {
  int found = 0;
  for (int r = 0, first = 0; r < ranks; first += counts[r++])
    if (counts[r] > 0) out[found++] = (neighbour){r, first, counts[r]};
  return found;
}

/* Columns become places in x: own elements, then those that come. */
static void renumber(matrix* m, const int* coming, int count) {
  m->lo = 0, m->hi = m->rows;
  for (int i = 0; i < m->rows; i++)
    for (int k = m->start[i]; k < m->start[i + 1]; k++) {
      const int* const found = bsearch(&m->column[k], coming, count, sizeof *coming, by_number);
      m->column[k] = found == NULL ? m->column[k] - m->first : m->rows + (int)(found - coming);
      if (found != NULL && i < m->rows / 2) m->lo = i + 1;
      else if (found != NULL) m->hi = smaller(m->hi, i);
    }
}

/* Who sends what: each rank asks the owners of what it needs. */
static gather make_gather(matrix* m, int ranks) {
  gather g = {.in = zeroes(ranks * sizeof *g.in), .out = zeroes(ranks * sizeof *g.out)};
  int* const coming = zeroes((m->start[m->rows] + 1) * sizeof *coming);
  int in_counts[ranks], out_counts[ranks], in_first[ranks], out_first[ranks];
  g.coming = columns_of_others(m, coming);
  memset(in_counts, 0, sizeof in_counts);
  for (int c = 0; c < g.coming; c++) in_counts[coming[c] / m->block]++;
  MPI_Alltoall(in_counts, 1, MPI_INT, out_counts, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0, at = 0; r < ranks; r++) {
    in_first[r] = at, at += in_counts[r];
    out_first[r] = g.going, g.going += out_counts[r];
  }
  g.index = zeroes((g.going + 1) * sizeof *g.index);
  g.packed = zeroes((g.going + 1) * sizeof *g.packed);
  g.requests = zeroes(2 * ranks * sizeof *g.requests);
  MPI_Alltoallv(coming, in_counts, in_first, MPI_INT, g.index, out_counts, out_first, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < g.going; i++) g.index[i] -= m->first;
  g.ins = neighbours(in_counts, ranks, g.in), g.outs = neighbours(out_counts, ranks, g.out);
  renumber(m, coming, g.coming);
  free(coming);
  return g;
}

static void start_gather(const gather* g, double* x, int rows) {
  for (int n = 0; n < g->ins; n++)
    MPI_Irecv(x + rows + g->in[n].first, g->in[n].count, MPI_DOUBLE, g->in[n].rank, 0, MPI_COMM_WORLD, &g->requests[n]);
  for (int n = 0; n < g->outs; n++) {
    const neighbour to = g->out[n];
    for (int i = to.first; i < to.first + to.count; i++) g->packed[i] = x[g->index[i]];
    MPI_Isend(g->packed + to.first, to.count, MPI_DOUBLE, to.rank, 0, MPI_COMM_WORLD, &g->requests[g->ins + n]);
  }
}

static void multiply(const matrix* m, int from, int to, const double* restrict x, double* restrict y) {
  for (int i = from; i < to; i++) {
    double dot = 0;
    for (int k = m->start[i]; k < m->start[i + 1]; k++) dot += m->value[k] * x[m->column[k]];
    y[i] = dot * SCALE;
  }
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = steps_wanted(argc, argv);
  matrix m = make_matrix(rank, ranks);
  const gather g = make_gather(&m, ranks);
  double* x = zeroes((m.rows + g.coming + 1) * sizeof *x);
  double* y = zeroes((m.rows + g.coming + 1) * sizeof *y);
  for (int i = 0; i < m.rows; i++) x[i] = first_value(m.first + i);

  double began = 0, sum = 0, total;
  for (int t = -WARM_UP; t < steps; t++) {
    if (t == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      began = now();
    }
    start_gather(&g, x, m.rows);
    multiply(&m, m.lo, m.hi, x, y);
    MPI_Waitall(g.ins + g.outs, g.requests, MPI_STATUSES_IGNORE);
    multiply(&m, 0, m.lo, x, y);
    multiply(&m, m.hi, m.rows, x, y);
    double* const old = x;
    x = y;
    y = old;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = now() - began;

  for (int i = 0; i < m.rows; i++) sum += x[i] * weight(m.first + i);
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) report(steps, seconds, total);
  return MPI_Finalize();
}
