#include "cg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct class_constants {
  char name;
  int order, nonzeroes, iterations;
  double shift, expected;
} constants[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648},     {'W', 7000, 8, 15, 12, 10.362595087124},
    {'A', 14000, 11, 15, 20, 17.130235054029},   {'B', 75000, 13, 75, 60, 22.712745482631},
    {'C', 150000, 15, 75, 110, 28.973605592845},
};
static const double condition = 0.1, tolerance = 1e-10;

/* ---- who has what ------------------------------------------------------------------------------------------------ */

static int first_of(int order, int block, int blocks) {
  const int least = order / blocks, more = order % blocks; /* the first `more` blocks have one more */
  return block * least + (block < more ? block : more);
}

static void take_place(cg_job* job, int rank, int ranks) {
  for (job->cols = 1; job->cols * job->cols < ranks; job->cols *= 2) job->doublings++;
  job->rows = ranks / job->cols;
  job->row = rank / job->cols;
  job->col = rank % job->cols;
  const bool square = job->rows == job->cols;
  const int half = rank % 2; /* which half of a block of rows, if the grid is not square */
  job->first_row = first_of(job->order, job->row, job->rows);
  job->height = first_of(job->order, job->row + 1, job->rows) - job->first_row;
  job->most_height = first_of(job->order, 1, job->rows);
  job->part_length = job->height;
  const int block = square ? job->col : job->col / 2;
  job->first_col = first_of(job->order, block, job->rows);
  job->width = first_of(job->order, block + 1, job->rows) - job->first_col;
  job->transpose = block * job->cols + job->row;
  if (square) return;
  job->transpose = block * job->cols + 2 * job->row + half;
  const int first_half = (job->width + 1) / 2;
  job->first_col += half * first_half;
  job->width = half == 0 ? first_half : job->width - first_half;
  job->part = half * ((job->height + 1) / 2);
  job->part_length = half == 0 ? (job->height + 1) / 2 : job->height / 2;
  job->transpose_part = half * first_half;
}

/* ---- the matrix -------------------------------------------------------------------------------------------------- */

/* The matrix is a sum over i of size_i v_i v_i^T, where v_i has few elements, and of a diagonal. */
typedef struct vectors {
  int most;     /* elements that a vector may have */
  int* length;  /* of each vector */
  int* place;   /* most for each vector: where its elements are, */
  double* with; /* and what they are */
} vectors;

/* Draws vector i: `nonzeroes` random elements at random places, and 1/2 at place i. `seen` is all false, and left so.
 */
static void draw(const cg_job* job, uint64_t* random, int i, bool* seen, vectors* all) {
  int* const place = all->place + (size_t)i * (size_t)all->most;
  double* const with = all->with + (size_t)i * (size_t)all->most;
  int length = 0, bits = 0;
  while (1 << bits < job->order) bits++;
  while (length < job->nonzeroes) {
    const double value = ldexp((double)npb_random(random), -NPB_BITS);
    const int where = (int)(npb_random(random) >> (NPB_BITS - bits));
    if (where >= job->order || seen[where]) continue;
    seen[where] = true;
    place[length] = where;
    with[length++] = value;
  }
  for (int k = 0; k < length; k++) seen[place[k]] = false;
  bool set = false;
  for (int k = 0; k < length; k++)
    if (place[k] == i) with[k] = 0.5, set = true;
  if (!set) {
    place[length] = i;
    with[length++] = 0.5;
  }
  all->length[i] = length;
}

static bool in_rows(const cg_job* job, int i) { return i >= job->first_row && i < job->first_row + job->height; }
static bool in_cols(const cg_job* job, int j) { return j >= job->first_col && j < job->first_col + job->width; }

/* Calls for every term of the matrix in this rank's block, in the order in which the NPB add them: either counts them
 * by row (start[row + 1]), or puts them at start[row], which moves on. */
static void each_term(cg_job* job, const vectors* all, bool count) {
  const double ratio = pow(condition, 1.0 / job->order);
  double size = 1;
  for (int i = 0; i < job->order; i++, size *= ratio) {
    const int* const place = all->place + (size_t)i * (size_t)all->most;
    const double* const with = all->with + (size_t)i * (size_t)all->most;
    for (int c = 0; c < all->length[i]; c++) {
      if (!in_cols(job, place[c])) continue;
      const double scale = size * with[c];
      for (int r = 0; r < all->length[i]; r++) {
        if (!in_rows(job, place[r])) continue;
        const int row = place[r] - job->first_row;
        if (count) {
          job->start[row + 1]++;
          continue;
        }
        const int at = job->start[row]++;
        job->column[at] = place[c] - job->first_col;
        job->value[at] = with[r] * scale;
      }
    }
  }
  for (int i = job->first_row; i < job->first_row + job->height; i++) {
    if (!in_cols(job, i)) continue;
    const int row = i - job->first_row;
    if (count) {
      job->start[row + 1]++;
      continue;
    }
    const int at = job->start[row]++;
    job->column[at] = i - job->first_col;
    job->value[at] = condition - job->shift;
  }
}

/* Adds up the terms of the same row and column, in the order in which they come. */
static void merge(cg_job* job, const npb* n) {
  double* const sum = npb_memory(n, (size_t)job->width, sizeof *sum);
  int* const met = npb_memory(n, (size_t)job->width, sizeof *met);
  bool* const marked = npb_memory(n, (size_t)job->width, sizeof *marked);
  int end = 0, from = 0;
  for (int row = 0; row < job->height; row++) {
    int count = 0;
    for (int k = from; k < job->start[row + 1]; k++) {
      const int column = job->column[k];
      sum[column] += job->value[k];
      if (!marked[column]) marked[column] = true, met[count++] = column;
    }
    from = job->start[row + 1];
    for (int k = 0; k < count; k++) {
      job->column[end] = met[k];
      job->value[end++] = sum[met[k]];
      sum[met[k]] = 0;
      marked[met[k]] = false;
    }
    job->start[row + 1] = end;
  }
  free(sum);
  free(met);
  free(marked);
}

/* Room for the terms of a rank: its part of all, and 1/16 of that and some columns more, because they are not quite
 * evenly spread. */
static size_t most_terms(const cg_job* job, int ranks) {
  const size_t most = (size_t)job->nonzeroes + 1, mean = (size_t)job->order * (most * most + 1) / (size_t)ranks;
  return mean + mean / 16 + (size_t)job->most_height * most;
}

static void make_matrix(cg_job* job, npb* n) {
  const size_t order = (size_t)job->order;
  vectors all = {.most = job->nonzeroes + 1};
  all.length = npb_memory(n, order, sizeof *all.length);
  all.place = npb_memory(n, order * (size_t)all.most, sizeof *all.place);
  all.with = npb_memory(n, order * (size_t)all.most, sizeof *all.with);
  bool* seen = npb_memory(n, order, sizeof *seen);
  uint64_t random = npb_random_after(npb_seed, 1);
  for (int i = 0; i < job->order; i++) draw(job, &random, i, seen, &all);
  free(seen);

  job->start = npb_array(n, (size_t)job->most_height + 1, sizeof *job->start);
  each_term(job, &all, true);
  for (int row = 0; row < job->height; row++) job->start[row + 1] += job->start[row];
  const size_t room = most_terms(job, n->team.count), terms = (size_t)job->start[job->height];
  if (terms > room) {
    fprintf(stderr, "%s: rank %d has %zu terms of the matrix, and room for %zu; start fewer ranks\n", n->program,
            n->team.rank, terms, room);
    exit(2);
  }
  job->column = npb_array(n, room, sizeof *job->column);
  job->value = npb_array(n, room, sizeof *job->value);
  each_term(job, &all, false);
  /* Each start has moved to the next one's place. */
  memmove(job->start + 1, job->start, (size_t)job->height * sizeof *job->start);
  job->start[0] = 0;
  merge(job, n);
  free(all.length);
  free(all.place);
  free(all.with);
}

static void announce(const cg_job* job, const npb* n) {
  if (n->team.rank == 0 && !n->json)
    printf(
        "\n %s: class %c, order %d, %d iterations, %d x %d ranks\n\n   iteration           ||r||                 "
        "zeta\n",
        n->program, n->class, job->order, job->iterations, job->rows, job->cols);
}

cg_job cg_of_class(const npb* n) {
  const struct class_constants* c = constants;
  while (c->name != n->class) c++;
  return (cg_job){.n = n,
                  .me = n->team.rank,
                  .order = c->order,
                  .nonzeroes = c->nonzeroes,
                  .iterations = c->iterations,
                  .shift = c->shift,
                  .expected = c->expected};
}

cg_job cg_begin(npb* n, cg_sum* sum, cg_exchange* exchange) {
  const int ranks = n->team.count;
  npb_require(n, (ranks & (ranks - 1)) == 0,
              "%d ranks are no power of two, which a hypercube needs; start 1, 2, 4, ...", ranks);
  cg_job job = cg_of_class(n);
  job.sum = sum;
  job.exchange = exchange;
  take_place(&job, n->team.rank, ranks);
  npb_require(n, job.order / job.rows >= 2, "%d ranks are too many for a matrix of order %d; start fewer", ranks,
              job.order);
  make_matrix(&job, n);
  announce(&job, n);
  return job;
}

void cg_take_rows(cg_job* job, npb* n, int first, int height, int most) {
  job->rows = n->team.count;
  job->cols = 1;
  job->first_row = first;
  job->height = height;
  job->most_height = most;
  job->width = job->order;
  make_matrix(job, n);
  announce(job, n);
}

/* ---- work, and the end ------------------------------------------------------------------------------------------- */

static void multiply_block(const cg_job* job, const double* restrict p, double* restrict w) {
  const int* restrict start = job->start;
  const int* restrict column = job->column;
  const double* restrict value = job->value;
  for (int row = 0; row < job->height; row++) {
    double sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * p[column[k]];
    w[row] = sum;
  }
}

/* Returns A p, in q or elsewhere. */
static const double* multiply(const cg_job* job, npb* n, const double* p, double* q) {
  multiply_block(job, p, job->w);
  n->communication -= now();
  const double* product = job->exchange(job, q);
  n->communication += now();
  return product;
}

static double dot(const cg_job* job, npb* n, const double* restrict a, const double* restrict b) {
  double sum = 0;
  for (int j = 0; j < job->width; j++) sum += a[j] * b[j];
  n->communication -= now();
  sum = job->sum(job, sum);
  n->communication += now();
  return sum;
}

typedef struct fields {
  double *x, *z, *p, *q, *r;
} fields;

/* z = A^-1 x, nearly; returns ||x - A z||. */
static double conjugate_gradient(const cg_job* job, npb* n, const fields* v) {
  double* restrict const z = v->z, * restrict const p = v->p, * restrict const r = v->r;
  const int width = job->width;
  memset(z, 0, (size_t)width * sizeof *z);
  memcpy(r, v->x, (size_t)width * sizeof *r);
  memcpy(p, v->x, (size_t)width * sizeof *p);
  double rho = dot(job, n, r, r);
  for (int step = 0; step < CG_STEPS; step++) {
    const double* restrict q = multiply(job, n, p, v->q);
    const double alpha = rho / dot(job, n, p, q), before = rho;
    for (int j = 0; j < width; j++) {
      z[j] += alpha * p[j];
      r[j] -= alpha * q[j];
    }
    rho = dot(job, n, r, r);
    const double beta = rho / before;
    for (int j = 0; j < width; j++) p[j] = r[j] + beta * p[j];
  }
  const double* restrict q = multiply(job, n, z, v->q);
  for (int j = 0; j < width; j++) r[j] = v->x[j] - q[j];
  return sqrt(dot(job, n, r, r));
}

void cg_report(const npb* n, int pass, double residual, double zeta) {
  if (pass > 0 && n->team.rank == 0 && !n->json) printf("    %5d       %20.14E %20.13f\n", pass, residual, zeta);
}

int cg_finish(const cg_job* job, npb* n, double zeta) {
  const double error = fabs(zeta - job->expected) / job->expected, order = job->order;
  const double per_row = job->nonzeroes * (job->nonzeroes + 1.0);
  const double operations = 1e-6 * 2 * job->iterations * order * (3 + per_row + CG_STEPS * (5 + per_row) + 3);
  char detail[128];
  snprintf(detail, sizeof detail, "zeta %.13f, published %.13f, relative error %.1e of at most %.0e", zeta,
           job->expected, error, tolerance);
  return npb_finish(n, error <= tolerance, job->order, job->iterations, operations, "floating point", detail);
}

int cg_run(cg_job* job, npb* n) {
  fields v;
  double** const all[] = {&v.x, &v.z, &v.p, &v.q, &v.r};
  for (int i = 0; i < 5; i++) *all[i] = npb_array(n, (size_t)job->most_height, sizeof(double));
  double zeta = 0;
  for (int pass = 0; pass <= job->iterations; pass++) { /* the first is to warm up */
    if (pass <= 1)
      for (int j = 0; j < job->width; j++) v.x[j] = 1;
    if (pass == 1) npb_start(n);
    const double residual = conjugate_gradient(job, n, &v);
    zeta = job->shift + 1 / dot(job, n, v.x, v.z);
    const double norm = sqrt(dot(job, n, v.z, v.z));
    for (int j = 0; j < job->width; j++) v.x[j] = v.z[j] / norm;
    cg_report(n, pass, residual, zeta);
  }
  npb_stop(n);
  return cg_finish(job, n, zeta);
}
