/* Barnes-Hut over shared memory: all ranks build one tree. Compare: barnes_hut_seq.c
 *
 * In each step the upper part of the tree, octants with many bodies, is found by counting: a rank divides its own
 * bodies, and all counts are added. The octants at its end go to ranks in the order of the tree, with equal work for
 * each rank. A rank makes the cells below its octants, of bodies wherever they lie, so it needs no locks; rank 0 makes
 * those above. With BodySort bodies then move to the rank that has made their leaf, in the order of the tree: in the
 * next step cells are made in this order, too, and only bodies that cross from the octants of one rank to those of
 * another lie elsewhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hiroba/collective.h>

#include "../common/shared.h"
#include "barnes_hut.h"

enum { PARTS_OF_RANK = 1024, FINE = 32, BUILDING = 256, NONE = -1 }; /* BUILDING: work for a body besides its list */

static const double uneven = 0.02; /* by which the work of a rank may differ from its share, on either side */

/* Part of the space, a node of the upper tree: an end, if it is not divided. The same in all ranks but for the last
 * line. */
typedef struct part {
  cube q;
  int parent, octant; /* this is the eighth with number `octant` of it */
  int curve;          /* the state of the curve in it */
  int child;          /* the first of eight, 0: none */
  int rank;           /* that makes what is in it; of an end with bodies */
  int from, to;       /* the bodies of this rank that lie there, in `own` */
} part;

/* A body on its way into the tree. */
typedef struct entry {
  body* body;
  int32_t end; /* in which it lies */
  int16_t home;
  int8_t octant; /* of the part that is being divided */
} entry;

/* What is in a part. */
typedef struct made {
  double sum[4];
  cell* cell; /* or a leaf or a run of bodies: */
  int kind;
} made;

typedef struct share {
  bh bh; /* first: `build` gets it */
  part* parts;
  int64_t *counts, *costs; /* by part, of all ranks: its bodies and their work */
  int count, most;
  int* ends; /* in the order of the tree */
  int end_count;
  made* made; /* by end */
  cell* tops; /* by end; the first eighth of a top is what this rank makes there */
  entry *own, *sent, *received;
  int room, received_count;
  int64_t *to, *from; /* by rank: numbers of entries */
  area box;           /* copies of bodies that other ranks put into the tree, where they are to move */
} share;

/* ---- the upper tree ---------------------------------------------------------------------------------------------- */

/* Makes the eight parts of a part, in the order of the curve, and puts the bodies of this rank into this order. */
static void divide(share* s, part* whole) {
  entry *const own = &s->own[whole->from], *const sorted = s->sent; /* nothing has been sent yet */
  const int bodies = whole->to - whole->from;
  int at[8] = {0};
  for (int i = 0; i < bodies; i++) at[own[i].octant = (int8_t)octant_of(&whole->q, own[i].body)]++;
  whole->child = s->count;
  for (int k = 0, first = 0, inside; k < 8; k++) {
    const int o = curve_octant(whole->curve, k, &inside), from = whole->from + first;
    s->counts[s->count] = at[o];
    s->parts[s->count++] = (part){octant(whole->q, o), (int)(whole - s->parts), o, inside, 0, 0, from, from + at[o]};
    first += at[o];
    at[o] = first - at[o];
  }
  for (int i = 0; i < bodies; i++) sorted[at[own[i].octant]++] = own[i];
  memcpy(own, sorted, sizeof *own * (size_t)bodies);
}

/* Divides what has more than its share of bodies, level by level. */
static void divide_space(share* s, cube all) {
  const bh* b = &s->bh;
  const int most = larger(b->size / (FINE * sms_nprocs), PACKED);
  if (s->room < b->area.count) {
    s->room = b->area.room;
    s->own = bh_room(b, s->own, sizeof *s->own * (size_t)s->room);
    s->sent = bh_room(b, s->sent, sizeof *s->sent * (size_t)s->room);
  }
  for (int i = 0; i < b->area.count; i++) s->own[i] = (entry){.body = &b->area.bodies[i], .home = (int16_t)sms_rank};
  s->parts[0] = (part){.q = all, .curve = START, .to = b->area.count};
  s->counts[0] = b->size;
  s->count = 1;
  for (int n = 0, known = 1; n < s->count; n++) {
    if (n == known) { /* a level is done */
      hiroba_allreduce(HIROBA_IN_PLACE, &s->counts[known], s->count - known, HIROBA_INT64, HIROBA_SUM, HIROBA_ALL);
      known = s->count;
    }
    const bool small = s->counts[n] <= most || s->parts[n].q.half < b->tree.smallest || s->count + 8 > s->most;
    if (n == 0 || !small) divide(s, &s->parts[n]);
  }
}

/* Gives a part to the rank, or to the ranks in whose shares of the work it lies, if `before` comes before it. What
 * reaches into the share of another rank only a little is not divided: so the parts of ranks have smooth faces, through
 * which they see less of each other. */
static void assign(share* s, int n, int64_t before, int rank) {
  part* const p = &s->parts[n];
  const double share_of_rank = (double)s->costs[0] / sms_nprocs, from = (double)before / share_of_rank,
               to = (double)(before + s->costs[n]) / share_of_rank, off = fmin(uneven, (to - from) / 2);
  if (rank == NONE && (p->child == 0 || floor(from + off) + 1 >= to - off)) rank = (int)((from + to) / 2);
  if (p->child == 0 && s->counts[n] > 0) {
    p->rank = rank;
    s->ends[s->end_count++] = n;
  }
  for (int k = p->child; p->child != 0 && k < p->child + 8; before += s->costs[k++]) assign(s, k, before, rank);
}

/* Gives the ends to the ranks: each gets a run of them, with equal work by the lists of the last step. */
static void give_ends(share* s) {
  for (int n = 0; n < s->count; n++) {
    const part* p = &s->parts[n];
    s->costs[n] = 0;
    for (int i = p->from; p->child == 0 && i < p->to; i++)
      s->costs[n] += BUILDING + motion_of(&s->bh, sms_rank, s->own[i].body)->cost;
  }
  hiroba_allreduce(HIROBA_IN_PLACE, s->costs, s->count, HIROBA_INT64, HIROBA_SUM, HIROBA_ALL);
  for (int n = s->count - 1; n > 0; n--) s->costs[s->parts[n].parent] += s->costs[n];
  s->end_count = 0;
  assign(s, 0, 0, NONE);
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static int rank_of(const share* s, int end) { return s->parts[s->ends[end]].rank; }

/* Tells other ranks which bodies of this one they put into the tree. If bodies are to move, copies of these go into a
 * box: where they lie now they are scattered over pages. */
static void send(share* s) {
  bh* b = &s->bh;
  int sent = 0;
  memset(s->to, 0, sizeof *s->to * (size_t)sms_nprocs);
  for (int e = 0; e < s->end_count; e++) {
    const part* p = &s->parts[s->ends[e]];
    for (int i = p->from; p->rank != sms_rank && i < p->to; i++, s->to[p->rank]++) {
      s->sent[sent] = s->own[i];
      s->sent[sent++].end = e;
    }
  }
  if (bh_sorts(b)) area_reserve(b, &s->box, sent);
  for (int i = 0; bh_sorts(b) && i < sent; i++) {
    s->box.bodies[i] = *s->sent[i].body;
    s->box.motions[i] = *motion_of(b, sms_rank, s->sent[i].body);
    s->sent[i].body = &s->box.bodies[i];
  }
  hiroba_alltoall(s->to, s->from, 1, HIROBA_INT64, HIROBA_ALL);
  s->received_count = 0;
  for (int r = 0; r < sms_nprocs; r++) s->received_count += (int)s->from[r];
  s->received = bh_room(b, s->received, sizeof *s->received * (size_t)s->received_count);
  hiroba_alltoallv(s->sent, s->to, NULL, s->received, s->from, NULL, HIROBA_TYPE(sizeof(entry)), HIROBA_ALL);
  hiroba_allgather(bh_sorts(b) ? &s->box : &b->area, b->areas, 1, HIROBA_TYPE(sizeof(area)), HIROBA_ALL);
  b->areas[sms_rank] = b->area;
  tree_begin(b, b->area.count - sent + s->received_count);
}

/* Puts a body into an end of this rank. */
static void insert(share* s, int end, const entry* p) {
  tree_insert(&s->bh, (eighth){&s->tops[end], 0}, s->parts[s->ends[end]].q, p->body, p->home);
}

/* Makes the cells of the ends of this rank. */
static void build_ends(share* s) {
  for (int e = 0; e < s->end_count; e++)
    if (rank_of(s, e) == sms_rank) s->tops[e] = (cell){.rank = {(int16_t)sms_rank}};
  for (int i = 0; i < s->received_count; i++) insert(s, s->received[i].end, &s->received[i]);
  for (int e = 0; e < s->end_count; e++) {
    const part* p = &s->parts[s->ends[e]];
    if (p->rank != sms_rank) continue;
    for (int i = p->from; i < p->to; i++) insert(s, e, &s->own[i]);
    s->made[e] = (made){.kind = NOTHING};
    tree_finish(&s->bh, (eighth){&s->tops[e], 0}, p->curve, s->made[e].sum);
  }
}

/* Tells the others what the ends of this rank are. */
static void tell_ends(share* s) {
  int64_t* const ends = s->from; /* by rank */
  memset(ends, 0, sizeof *ends * (size_t)sms_nprocs);
  for (int e = 0; e < s->end_count; e++) {
    ends[rank_of(s, e)]++;
    if (rank_of(s, e) == sms_rank) s->made[e].cell = s->tops[e].in[0].cell, s->made[e].kind = s->tops[e].kind[0];
  }
  hiroba_allgatherv(HIROBA_IN_PLACE, 0, s->made, ends, NULL, HIROBA_TYPE(sizeof *s->made), HIROBA_ALL);
}

/* Makes the cells of a part that is divided; `end` is the next one in the order of the tree. */
static made join(share* s, int n, int* end) {
  const part* p = &s->parts[n];
  if (p->child == 0) return s->made[(*end)++];
  made whole = {.cell = tree_cell(&s->bh, p->q), .kind = CELL};
  for (int k = p->child; k < p->child + 8; k++) {
    const eighth at = {whole.cell, s->parts[k].octant};
    if (s->counts[k] == 0) continue;
    const made in = join(s, k, end);
    at.of->count[at.number] = (int32_t)s->counts[k];
    at.of->rank[at.number] = (int16_t)s->parts[k].rank;
    at.of->kind[at.number] = (int8_t)in.kind;
    at.of->in[at.number].cell = in.cell;
    tree_centre(at, in.sum, whole.sum);
  }
  return whole;
}

static void build(bh* b) {
  share* const s = (share*)b;
  made whole = {.kind = NOTHING};
  double since = team_now();
  divide_space(s, cube_of(b));
  give_ends(s);
  send(s);
  sms_barrier();
  bh_phase(b, EXCHANGE, &since);
  build_ends(s);
  bh_phase(b, BUILD, &since);
  if (bh_sorts(b)) tree_sort(b);
  bh_phase(b, SORT, &since);
  tell_ends(s);
  sms_barrier();
  bh_phase(b, EXCHANGE, &since);
  if (sms_rank == 0) whole = join(s, 0, &(int){0});
  bh_phase(b, BUILD, &since);
  sms_barrier();
  hiroba_bcast(&whole, 1, HIROBA_TYPE(sizeof whole), 0, HIROBA_ALL);
  b->tree.root = whole.cell;
  memcpy(b->tree.sum, whole.sum, sizeof b->tree.sum);
  hiroba_allgather(&b->area, b->areas, 1, HIROBA_TYPE(sizeof(area)), HIROBA_ALL);
  bh_phase(b, EXCHANGE, &since);
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

static void* take(size_t bytes) { return sms_aligned_alloc(4096, bytes); }

static void count(int64_t* pages, int64_t* bytes) {
  sms_statistics memory;
  sms_heap_statistics heap;
  sms_stats(NULL, &memory);
  sms_heap_stats(&heap);
  *pages = (int64_t)memory.pages_fetched;
  *bytes = (int64_t)heap.used_bytes + 4096 * (int64_t)memory.pages_cached;
}

static void* room(const bh* b, int count, size_t bytes) { return bh_room(b, NULL, (size_t)count * bytes); }

static void open_share(share* s) {
  bh* b = &s->bh;
  s->most = PARTS_OF_RANK * (sms_nprocs + 1);
  s->parts = room(b, s->most, sizeof *s->parts);
  s->counts = room(b, s->most, sizeof *s->counts);
  s->costs = room(b, s->most, sizeof *s->costs);
  s->ends = room(b, s->most, sizeof *s->ends);
  s->made = room(b, s->most, sizeof *s->made);
  s->tops = room(b, s->most, sizeof *s->tops);
  s->to = room(b, sms_nprocs, sizeof *s->to);
  s->from = room(b, sms_nprocs, sizeof *s->from);
  b->areas = room(b, sms_nprocs, sizeof *b->areas);
  b->areas[sms_rank] = b->area;
  b->node = room(b, sms_nprocs, sizeof *b->node);
  hiroba_allgather(&sms_node, b->node, 1, HIROBA_INT, HIROBA_ALL);
}

static void close_share(share* s) {
  area_free(&s->bh, &s->box);
  free(s->parts), free(s->counts), free(s->costs), free(s->ends), free(s->made), free(s->tops), free(s->own),
      free(s->sent), free(s->received);
  free(s->to), free(s->from), free(s->bh.areas), free(s->bh.node);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  share s = {.room = 0};
  bh* b = &s.bh;
  const memory shared = {.take = take, .give = sms_mfree, .barrier = sms_barrier, .counters = count};
  bh_begin(b, PROGRAM, shared_team(), shared, argc, argv);
  bh_start(b, shared_rows(&b->team, b->size, COLUMNS, sizeof(double), "the bodies"));
  open_share(&s);
  bh_run(b, build);
  const int status = bh_finish(b);
  close_share(&s);
  sms_shutdown();
  return status;
}
