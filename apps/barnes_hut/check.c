#include <math.h>

#include "../common/bits.h"
#include "barnes_hut.h"

enum { SAMPLES = 1024 };

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

void check_twins(const bh* b) {
  const twins* t = &b->tree.twins;
  team_agree(&b->team, !t->found, TEAM_BAD_INPUT, "bodies %d and %d are in one place, (%.17g, %.17g, %.17g)", t->id[0],
             t->id[1], t->at.x, t->at.y, t->at.z);
}

uint64_t check_cells(const bh* b) {
  const pool* cells = &b->tree.cells;
  uint64_t sum = 0;
  for (int i = 0; i < cells->used; i++) {
    const cell* c = (const cell*)cells->chunk[i / CHUNK] + i % CHUNK;
    for (int o = 0; o < 8; o++) {
      const double is[] = {c->whole.x + c->x[o], c->whole.y + c->y[o], c->whole.z + c->z[o], c->m[o], c->whole.half};
      for (uint64_t k = 0; c->count[o] > 0 && k < 5; k++)
        sum += bits_of(k + 5 * (uint64_t)(8 * c->count[o] + o), &is[k], sizeof is[k]);
    }
  }
  return team_sum_bits(&b->team, sum);
}

void check_tree(const bh* b) {
  const team* team = &b->team;
  const cell* root = b->tree.root;
  uint64_t found = 0, expected = 0;
  double sum[4] = {0};
  const double* tree = b->tree.sum;
  int count = 0;
  for (int i = 0; i < b->tree.bodies; i++) found += bits_of((uint64_t)b->tree.order[i].motion->id, "", 1);
  for (int i = b->first; i < b->last; i++) expected += bits_of((uint64_t)i, "", 1);
  for (int i = 0; i < b->area.count; i++) {
    const body* p = &b->area.bodies[i];
    tree_add(sum, p);
  }
  for (int o = 0; o < 8; o++) count += root->count[o];
  found = team_sum_bits(team, found), expected = team_sum_bits(team, expected);
  team_agree(team, found == expected && count == b->size, TEAM_WRONG,
             "the answer is wrong: the tree has %d bodies, or some twice, not each of %d once", count, b->size);
  bool good = true;
  for (int d = 0; d < 4; d++) {
    sum[d] = team_sum(team, sum[d]);
    good = good && fabs(sum[d] - tree[d]) <= 1e-12 * tree[3] * (d < 3 ? root->whole.half : 1);
  }
  team_agree(team, good, TEAM_WRONG,
             "the answer is wrong: the sums of m x, m y, m z and m are %g, %g, %g, %g by the tree, not %g, %g, %g, %g",
             tree[0], tree[1], tree[2], tree[3], sum[0], sum[1], sum[2], sum[3]);
}

/* ---- the forces -------------------------------------------------------------------------------------------------- */

/* The acceleration at p by all bodies, one by one. */
static void direct(const bh* b, const body* p, double a[3]) {
  double ax = 0, ay = 0, az = 0;
  for (int r = 0; r < b->team.count; r++) {
    const body* from = b->areas[r].bodies;
#pragma omp simd reduction(+ : ax, ay, az)
    for (int i = 0; i < b->areas[r].count; i++) {
      const double dx = from[i].x - p->x, dy = from[i].y - p->y, dz = from[i].z - p->z;
      const double r2 = dx * dx + dy * dy + dz * dz + b->softening * b->softening;
      const double factor = from[i].m / (r2 * sqrt(r2));
      ax += factor * dx, ay += factor * dy, az += factor * dz;
    }
  }
  a[0] = ax, a[1] = ay, a[2] = az;
}

/* The square of the relative error of a body's acceleration. */
static double square_error(const bh* b, int i) {
  const double* found = b->area.motions[i].a;
  double right[3], difference = 0, size = 0;
  direct(b, &b->area.bodies[i], right);
  for (int d = 0; d < 3; d++) {
    difference += (found[d] - right[d]) * (found[d] - right[d]);
    size += right[d] * right[d];
  }
  return size > 0 ? difference / size : difference;
}

double check_forces(const bh* b) {
  const int stride = (b->size + SAMPLES - 1) / SAMPLES;
  double sum = 0, most = 0;
  int count = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum, count) reduction(max : most)
  for (int i = 0; i < b->area.count; i++) {
    if (b->area.motions[i].id % stride != 0) continue;
    const double square = square_error(b, i);
    count++;
    sum += square;
    most = isfinite(square) ? fmax(most, square) : INFINITY;
  }
  most = team_max(&b->team, most);
  sum = team_sum(&b->team, sum) / team_sum(&b->team, count);
  return sqrt(b->theta == 0 || !isfinite(most) ? most : sum);
}

double check_limit(const bh* b) { return b->theta == 0 ? 1e-12 : 0.03 * b->theta * b->theta; }
