/* Forces on groups of neighbouring bodies. A walk over the tree makes one list for a group: of cells that are far from
 * all of it, as points, and of bodies. Then each body of the group is attracted by each point of the list; bodies fill
 * the lanes of vectors, so the order of additions is the same for every one. */
#include <math.h>
#include <stdlib.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "barnes_hut.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors in arguments: of functions of this file only */

#if defined __AVX512F__ /* what fits one register: the compiler makes poor code of more */
enum { LANES = 8 };
#elif defined __AVX__
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
enum { STACK = 8 * (DEPTH + 4) };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

typedef struct sources {
  double *x, *y, *z, *m;
  int count, room;
} sources;

/* The bodies of a group, in lanes; and what is computed of them. */
typedef struct group {
  lanes x[GROUP / LANES], y[GROUP / LANES], z[GROUP / LANES];
  lanes ax[GROUP / LANES], ay[GROUP / LANES], az[GROUP / LANES], phi[GROUP / LANES];
  double low[3], high[3];
} group;

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static void reserve(const bh* b, sources* s, int count) {
  if (count <= s->room) return;
  s->room = 2 * count;
  double** const columns[] = {&s->x, &s->y, &s->z, &s->m};
  for (int i = 0; i < 4; i++) *columns[i] = bh_room(b, *columns[i], sizeof(double) * (size_t)s->room);
}

static inline void add(sources* s, double x, double y, double z, double m) {
  const int i = s->count++;
  s->x[i] = x, s->y[i] = y, s->z[i] = z, s->m[i] = m;
}

static inline double outside(double at, double low, double high) {
  const double most = low - at > at - high ? low - at : at - high;
  return most > 0 ? most : 0;
}

/* The eighths of a cell as points, and which of them the group sees as such. */
typedef struct points {
  double x[8], y[8], z[8];
  bool far[8];
} points;

static inline void tell_far(const cell* c, const group* g, double theta2, points* p) {
  const cube q = c->whole; /* whose half is the side of an eighth */
  double d2[8];
#pragma omp simd
  for (int o = 0; o < 8; o++) {
    p->x[o] = q.x + (double)c->x[o], p->y[o] = q.y + (double)c->y[o], p->z[o] = q.z + (double)c->z[o];
    const double dx = outside(p->x[o], g->low[0], g->high[0]), dy = outside(p->y[o], g->low[1], g->high[1]),
                 dz = outside(p->z[o], g->low[2], g->high[2]);
    d2[o] = dx * dx + dy * dy + dz * dz;
  }
  for (int o = 0; o < 8; o++) p->far[o] = q.half * q.half < theta2 * d2[o];
}

static inline bool is_away(const bh* b, int rank) { return b->node[rank] != b->node[b->team.rank]; }

/* The bodies in an eighth that is near. */
static int64_t add_bodies(const bh* b, const cell* c, int o, sources* s) {
  int64_t accesses = 0;
  for (int k = 0; k < c->count[o]; k++) {
    const leaf* l = c->in[o].leaf;
    const body* p = c->kind[o] == RUN ? &c->in[o].bodies[k] : l->body[k];
    accesses += is_away(b, c->kind[o] == RUN ? c->rank[o] : l->home[k]);
    add(s, p->x, p->y, p->z, p->m);
  }
  return accesses;
}

/* Makes the list of a group; returns how many cells and bodies of other nodes it has read. */
static int64_t walk(const bh* b, const group* g, sources* s) {
  const cell* stack[STACK];
  int64_t accesses = 0;
  int top = 0;
  s->count = 0;
  stack[top++] = b->tree.root;
  while (top > 0) {
    const cell* c = stack[--top];
    points p;
    tell_far(c, g, b->theta * b->theta, &p);
    reserve(b, s, s->count + 8 * LEAF);
    for (int o = 0; o < 8; o++) {
      if (c->kind[o] == NOTHING) continue;
      accesses += is_away(b, c->rank[o]);
      if (p.far[o]) add(s, p.x[o], p.y[o], p.z[o], c->m[o]);
      else if (c->kind[o] == CELL) stack[top++] = c->in[o].cell;
      else accesses += add_bodies(b, c, o, s);
    }
  }
  return accesses;
}

/* ---- the forces -------------------------------------------------------------------------------------------------- */

/* a * b + c, rounded once where the processor can: the compiler is not allowed to choose (-ffp-contract=off), because
 * it would choose otherwise in another program, whose bits would differ. */
static inline lanes fused(lanes a, lanes b, lanes c) {
#ifdef __AVX512F__
  return (lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#else
  return a * b + c;
#endif
}

static inline lanes all(double x) { return x - (lanes){0}; }

static inline lanes inverse_root(lanes r2) {
#ifdef __AVX512F__
  /* 14 bits, and then a series to the fourth order in its error. */
  const lanes y = (lanes)_mm512_rsqrt14_pd((__m512d)r2), h = fused(-(r2 * y), y, all(1));
  return fused(y * h, fused(h, fused(h, all(0.3125), all(0.375)), all(0.5)), y);
#else
  lanes y = {0};
  for (int k = 0; k < LANES; k++) y[k] = 1 / sqrt(r2[k]);
  return y;
#endif
}

/* For `wide` vectors of bodies, from the one with number `at`. */
static inline __attribute__((always_inline)) void attract(const sources* s, group* g, int at, int wide, double eps2) {
  lanes ax[2] = {{0}}, ay[2] = {{0}}, az[2] = {{0}}, phi[2] = {{0}}, x[2], y[2], z[2];
  for (int w = 0; w < wide; w++) x[w] = g->x[at + w], y[w] = g->y[at + w], z[w] = g->z[at + w];
  for (int j = 0; j < s->count; j++) {
#pragma GCC unroll 2
    for (int w = 0; w < wide; w++) {
      const lanes dx = s->x[j] - x[w], dy = s->y[j] - y[w], dz = s->z[j] - z[w];
      const lanes inverse = inverse_root(fused(dx, dx, fused(dy, dy, fused(dz, dz, all(eps2))))),
                  potential = s->m[j] * inverse;
      const lanes factor = potential * (inverse * inverse);
      ax[w] = fused(factor, dx, ax[w]);
      ay[w] = fused(factor, dy, ay[w]);
      az[w] = fused(factor, dz, az[w]);
      phi[w] -= potential;
    }
  }
  for (int w = 0; w < wide; w++)
    g->ax[at + w] = ax[w], g->ay[at + w] = ay[w], g->az[at + w] = az[w], g->phi[at + w] = phi[w];
}

static void load(group* g, const place* bodies, int count) {
  const body* first = bodies[0].body;
  const double at[3] = {first->x, first->y, first->z};
  for (int d = 0; d < 3; d++) g->low[d] = g->high[d] = at[d];
  for (int i = 0; i < (count + LANES - 1) / LANES * LANES; i++) { /* the rest of the lanes: copies of the first body */
    const body* p = bodies[i < count ? i : 0].body;
    const double x[3] = {p->x, p->y, p->z};
    lanes* const to[3] = {g->x, g->y, g->z};
    for (int d = 0; d < 3; d++) {
      to[d][i / LANES][i % LANES] = x[d];
      g->low[d] = fmin(g->low[d], x[d]);
      g->high[d] = fmax(g->high[d], x[d]);
    }
  }
}

static void store(const bh* b, const group* g, const place* bodies, int count, int cost) {
  for (int i = 0; i < count; i++) {
    motion* const to = bodies[i].motion;
    const int n = i / LANES, k = i % LANES;
    to->a[0] = g->ax[n][k], to->a[1] = g->ay[n][k], to->a[2] = g->az[n][k];
    to->phi = g->phi[n][k] + bodies[i].body->m / b->softening; /* without its own */
    to->cost = cost;
  }
}

void forces(bh* b) {
  const tree* t = &b->tree;
  const double eps2 = b->softening * b->softening;
  int64_t accesses = 0, interactions = 0;
  if (b->sources == NULL) {
    b->sources = bh_room(b, NULL, sizeof *b->sources * (size_t)b->threads);
    for (int i = 0; i < b->threads; i++) b->sources[i] = (sources){0};
  }
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : accesses, interactions)
  for (int n = 0; n < t->groups; n++) {
    sources* const s = &b->sources[bh_thread()];
    const place* const bodies = &t->order[t->group[n]];
    const int count = t->group[n + 1] - t->group[n], vectors = (count + LANES - 1) / LANES;
    group g;
    load(&g, bodies, count);
    accesses += walk(b, &g, s);
    for (int at = 0; at + 2 <= vectors; at += 2) attract(s, &g, at, 2, eps2);
    if (vectors % 2 != 0) attract(s, &g, vectors - 1, 1, eps2);
    store(b, &g, bodies, count, s->count);
    interactions += (int64_t)count * s->count;
  }
  b->accesses += accesses;
  b->interactions += interactions;
}

void forces_free(bh* b) {
  for (int i = 0; b->sources != NULL && i < b->threads; i++) {
    sources* s = &b->sources[i];
    free(s->x), free(s->y), free(s->z), free(s->m);
  }
  free(b->sources);
}
