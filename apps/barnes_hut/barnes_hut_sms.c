/* Barnes-Hut over shared memory: all ranks build one tree. Compare: barnes_hut_seq.c
 *
 * In each step the upper part of the tree, octants with many bodies, is found by counting: a rank divides its own
 * bodies, and all counts are added. The octants at its end go to ranks in the order of the tree, with equal work for
 * each rank. A rank makes the cells below its octants, of bodies wherever they lie, so it needs no locks; rank 0 joins
 * them. With BodySort bodies then move to the rank that has made their leaf, in the order of the tree: in the next step
 * cells are made in this order, too, and only bodies that cross from the octants of one rank to those of another lie
 * elsewhere. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/shared.h"
#include "barnes_hut.h"

enum { OCTANTS_OF_RANK = 1024, FINE = 32, BUILDING = 256, NEW = -1 }; /* BUILDING: work for a body besides its list */

static const double uneven = 0.02; /* by which the work of a rank may differ from its share */

/* Part of the space, a node of the upper tree; the same in all ranks but for the last line. */
typedef struct octant_part {
  cube q;
  int64_t cost;
  int count, child, rank; /* child: the first of eight, 0: none */
  int curve, seam;        /* the state of the curve there; see list_ends */
  int last;               /* its number in the last step, or NEW */
  int from, to;           /* the bodies of this rank that lie there, in `mine` */
} octant_part;

/* What the maker of an end tells of it. */
typedef struct made {
  double sum[4];
  cell* cell; /* or else a leaf or a run of bodies: */
  int kind;
} made;

/* What a rank tells the others; at home on it. */
typedef struct board {
  area area, box; /* its bodies; copies of those that other ranks put into the tree, where they are to move */
  int32_t* sent;  /* which of its bodies other ranks put into the tree, in the order of the tree */
  cell* tree;     /* of rank 0: all of it */
  double sum[4];  /* likewise */
  int node;
  /* then, for each octant: counts of bodies, costs, and, for the ends that it has made, one after the other: what */
} board;

typedef struct share {
  bh bh; /* first: `build` gets it */
  char* boards;
  size_t pitch;                /* bytes from a rank's board to the next */
  octant_part *octants, *last; /* of this step, and of the last one */
  int count, most;
  int* ends; /* octants that are not divided, in the order of the tree */
  int end_count;
  int32_t *mine, *other; /* bodies of this rank by octant; room to reorder them */
  uint8_t* which;
  int room;
  area* areas; /* of the ranks, and then their boxes */
  area box;    /* of this rank */
  cell* tops;  /* whose first eighth is an end of this rank */
  int own_ends;
  int* taken; /* by rank: how many of its bodies, or ends, come before */
} share;

static board* board_of(const share* s, int rank) { return (board*)(s->boards + (size_t)rank * s->pitch); }
static int64_t* costs_of(const share* s, int rank) { return (int64_t*)(board_of(s, rank) + 1); }
static int32_t* counts_of(const share* s, int rank) { return (int32_t*)(costs_of(s, rank) + s->most); }
static made* made_of(const share* s, int rank) { return (made*)(counts_of(s, rank) + s->most); }

/* ---- the upper tree ---------------------------------------------------------------------------------------------- */

/* Makes the eight parts of an octant, and the bodies of this rank in them. */
static void divide(share* s, int number) {
  octant_part* const whole = &s->octants[number];
  const body* bodies = s->bh.area.bodies;
  int at[9] = {0};
  for (int i = whole->from; i < whole->to; i++)
    at[1 + (s->which[i] = (uint8_t)octant_of(&whole->q, &bodies[s->mine[i]]))]++;
  const int last = whole->last != NEW ? s->last[whole->last].child : 0;
  whole->child = s->count;
  for (int o = 0; o < 8; o++) {
    at[o + 1] += at[o];
    counts_of(s, sms_rank)[s->count] = at[o + 1] - at[o];
    s->octants[s->count++] = (octant_part){.q = octant(whole->q, o),
                                           .last = last != 0 ? last + o : NEW,
                                           .from = whole->from + at[o],
                                           .to = whole->from + at[o + 1]};
  }
  for (int i = whole->from; i < whole->to; i++) s->other[at[s->which[i]]++] = s->mine[i];
  for (int i = whole->from; i < whole->to; i++) s->mine[i] = s->other[i - whole->from];
}

/* Adds what the ranks have counted in the octants [first, s->count). */
static void add_counts(share* s, int first) {
  sms_barrier();
  for (int r = 0; r < sms_nprocs; r++)
    for (int o = first; o < s->count; o++) s->octants[o].count += counts_of(s, r)[o];
}

/* Finds the octants that have more than their share of bodies, and divides them: first those of the last step, all at
 * once, and then level by level what has become larger. */
static void divide_space(share* s, cube all) {
  const bh* b = &s->bh;
  const int most = larger(b->size / (FINE * sms_nprocs), PACKED);
  octant_part* const last = s->octants;
  const bool again = s->count > 0 && last[0].q.half == all.half;
  s->octants = s->last;
  s->last = last;
  for (int i = 0; i < b->area.count; i++) s->mine[i] = i;
  s->octants[0] =
      (octant_part){.q = all, .count = b->size, .curve = START, .last = again ? 0 : NEW, .to = b->area.count};
  s->count = 1;
  for (int o = 0; o < s->count; o++)
    if (o == 0 || (s->octants[o].last != NEW && last[s->octants[o].last].child != 0)) divide(s, o);
  for (int known = 1; known < s->count;) {
    const int counted = s->count;
    add_counts(s, known);
    known = counted;
    for (int o = 0; o < counted; o++)
      if (s->octants[o].child == 0 && s->octants[o].count > most && s->octants[o].q.half >= b->tree.smallest &&
          s->count + 8 <= s->most)
        divide(s, o);
  }
  for (int o = 1; o < s->count; o++)
    if (s->octants[o].count <= most) s->octants[o].child = 0;
}

/* Lists the ends below an octant; `seam`: the level of the largest octant that begins where it does. */
static void list_ends(share* s, int number, int level, int seam) {
  octant_part* const o = &s->octants[number];
  if (o->count == 0) return;
  o->seam = seam;
  if (o->child == 0) s->ends[s->end_count++] = number;
  for (int k = 0; o->child != 0 && k < 8; k++) {
    int inside;
    const int below = o->child + curve_octant(o->curve, k, &inside), listed = s->end_count;
    s->octants[below].curve = inside;
    list_ends(s, below, level + 1, seam);
    if (s->end_count > listed) seam = level + 1;
  }
}

/* Adds up what the bodies in each end cost. */
static void add_costs(share* s) {
  const motion* motions = s->bh.area.motions;
  int64_t* const mine = costs_of(s, sms_rank);
  s->end_count = 0;
  list_ends(s, 0, 0, 0);
  for (int e = 0; e < s->end_count; e++) {
    const octant_part* o = &s->octants[s->ends[e]];
    mine[e] = 0;
    for (int i = o->from; i < o->to; i++) mine[e] += BUILDING + motions[s->mine[i]].cost;
  }
  sms_barrier();
  for (int r = 0; r < sms_nprocs; r++)
    for (int e = 0; e < s->end_count; e++) s->octants[s->ends[e]].cost += costs_of(s, r)[e];
}

/* Gives the ends to the ranks: each gets a run of them of equal cost. A run may begin a little earlier or later, if
 * there a larger octant begins: so the parts of ranks have smooth faces, through which they see less of each other. */
static void give_ends(share* s) {
  int64_t total = 0;
  for (int e = 0; e < s->end_count; e++) total += s->octants[s->ends[e]].cost;
  const double share_of_rank = (double)total / sms_nprocs;
  for (int rank = 0, from = 0; rank < sms_nprocs; rank++) {
    const double until = share_of_rank * (rank + 1);
    int to = s->end_count, seam = INT_MAX;
    double before = 0, nearest = INFINITY;
    for (int e = 0; e < s->end_count && rank + 1 < sms_nprocs; e++) {
      const octant_part* o = &s->octants[s->ends[e]];
      const double off = fmax(fabs(before - until) / share_of_rank, uneven);
      if (e >= from && (off < nearest || (off == nearest && o->seam < seam))) to = e, seam = o->seam, nearest = off;
      before += (double)o->cost;
    }
    for (; from < to; from++) s->octants[s->ends[from]].rank = rank;
  }
}

/* Lists the bodies of this rank that others put into the tree. If bodies are to move, copies of these go into a box:
 * where they lie now they are scattered over pages. */
static void send(share* s) {
  bh* b = &s->bh;
  board* const mine = board_of(s, sms_rank);
  int sent = 0;
  for (int e = 0; e < s->end_count; e++) {
    const octant_part* o = &s->octants[s->ends[e]];
    for (int i = o->from; o->rank != sms_rank && i < o->to; i++) mine->sent[sent++] = s->mine[i];
  }
  if (!bh_sorts(b)) return;
  area_reserve(b, &s->box, sent);
  for (int i = 0; i < sent; i++) {
    s->box.bodies[i] = b->area.bodies[mine->sent[i]];
    s->box.motions[i] = b->area.motions[mine->sent[i]];
  }
  if (mine->box.bodies != s->box.bodies) mine->box = s->box; /* a page that is not written need not be fetched again */
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* Puts the bodies in an end of this rank into the tree: its own, and those that others have sent. */
static void fill_end(share* s, int number, eighth at) {
  bh* b = &s->bh;
  const octant_part* o = &s->octants[number];
  const bool boxed = bh_sorts(b);
  for (int i = o->from; i < o->to; i++) tree_insert(b, at, o->q, &b->area.bodies[s->mine[i]], sms_rank);
  for (int r = 0; r < sms_nprocs; r++) {
    if (r == sms_rank) continue;
    const int32_t* sent = board_of(s, r)->sent + s->taken[r];
    const int home = boxed ? sms_nprocs + r : r;
    for (int i = 0; i < counts_of(s, r)[number]; i++)
      tree_insert(b, at, o->q, &b->areas[home].bodies[boxed ? s->taken[r] + i : sent[i]], home);
  }
}

static void build_ends(share* s) {
  int bodies = 0;
  for (int e = 0; e < s->end_count; e++)
    if (s->octants[s->ends[e]].rank == sms_rank) bodies += s->octants[s->ends[e]].count;
  tree_begin(&s->bh, bodies);
  s->own_ends = 0;
  for (int r = 0; r < sms_nprocs; r++) s->taken[r] = 0;
  for (int e = 0; e < s->end_count; e++) {
    const int number = s->ends[e], owner = s->octants[number].rank;
    if (owner == sms_rank) {
      cell* const top = &s->tops[s->own_ends];
      double* const sum = made_of(s, sms_rank)[s->own_ends++].sum;
      for (int d = 0; d < 4; d++) sum[d] = 0;
      *top = (cell){.rank = {(int16_t)sms_rank}};
      fill_end(s, number, (eighth){top, 0});
      tree_finish(&s->bh, (eighth){top, 0}, s->octants[number].curve, sum);
    }
    for (int r = 0; r < sms_nprocs; r++)
      if (r != owner) s->taken[r] += counts_of(s, r)[number];
  }
}

/* Tells rank 0 what the ends of this rank are. */
static void tell_ends(share* s) {
  made* const to = made_of(s, sms_rank);
  for (int e = 0; e < s->own_ends; e++) {
    const cell* c = &s->tops[e];
    to[e].cell = c->in[0].cell;
    to[e].kind = c->kind[0];
  }
}

/* Puts an octant into the tree. */
static void join(share* s, int number, eighth at, double sum[4]) {
  const octant_part* o = &s->octants[number];
  double own[4] = {0};
  at.of->count[at.number] = o->count;
  if (o->count == 0) return;
  if (o->child == 0) {
    const made* from = &made_of(s, o->rank)[s->taken[o->rank]++];
    at.of->rank[at.number] = (int16_t)o->rank;
    at.of->kind[at.number] = (int8_t)from->kind;
    at.of->in[at.number].cell = from->cell;
    tree_centre(at, from->sum, sum);
    return;
  }
  cell* const c = tree_cell(&s->bh, o->q);
  at.of->kind[at.number] = CELL;
  at.of->in[at.number].cell = c;
  for (int n = 0, inside; n < 8; n++) {
    const int k = curve_octant(o->curve, n, &inside);
    join(s, o->child + k, (eighth){c, k}, own);
  }
  tree_centre(at, own, sum);
}

static cell* join_all(share* s) {
  cell around = {.count = {0}};
  for (int r = 0; r < sms_nprocs; r++) s->taken[r] = 0;
  for (int d = 0; d < 4; d++) board_of(s, 0)->sum[d] = 0;
  join(s, 0, (eighth){&around, 0}, board_of(s, 0)->sum);
  return around.in[0].cell;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static void make_room(share* s) {
  const bh* b = &s->bh;
  board* const mine = board_of(s, sms_rank);
  if (b->area.count <= s->room) return;
  s->room = b->area.room;
  sms_mfree(mine->sent);
  mine->sent = sms_malloc(sizeof *mine->sent * (size_t)s->room);
  s->mine = bh_room(b, s->mine, sizeof *s->mine * (size_t)s->room);
  s->other = bh_room(b, s->other, sizeof *s->other * (size_t)s->room);
  s->which = bh_room(b, s->which, (size_t)s->room);
}

static void build(bh* b) {
  share* const s = (share*)b;
  board* const mine = board_of(s, sms_rank);
  double since = team_now();
  make_room(s);
  divide_space(s, cube_of(b));
  add_costs(s);
  give_ends(s);
  send(s);
  sms_barrier();
  for (int r = 0; r < sms_nprocs; r++) s->areas[sms_nprocs + r] = board_of(s, r)->box;
  bh_phase(b, EXCHANGE, &since);
  build_ends(s);
  bh_phase(b, BUILD, &since);
  if (bh_sorts(b)) tree_sort(b);
  tell_ends(s);
  bh_phase(b, SORT, &since);
  sms_barrier();
  bh_phase(b, EXCHANGE, &since);
  mine->area = b->area;
  if (sms_rank == 0) mine->tree = join_all(s);
  bh_phase(b, BUILD, &since);
  sms_barrier();
  b->tree.root = board_of(s, 0)->tree;
  memcpy(b->tree.sum, board_of(s, 0)->sum, sizeof b->tree.sum);
  for (int r = 0; r < sms_nprocs; r++) s->areas[r] = board_of(s, r)->area;
  bh_phase(b, EXCHANGE, &since);
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

static void* take(size_t bytes) { return sms_aligned_alloc(4096, bytes); }

static void give(void* memory) { sms_mfree(memory); }

static void count(int64_t* pages, int64_t* bytes) {
  sms_statistics memory;
  sms_heap_statistics heap;
  sms_stats(NULL, &memory);
  sms_heap_stats(&heap);
  *pages = (int64_t)memory.pages_fetched;
  *bytes = (int64_t)heap.used_bytes + 4096 * (int64_t)memory.pages_cached;
}

/* Boards, and the areas that bodies are in at the start. */
static void open_boards(share* s) {
  bh* b = &s->bh;
  s->most = OCTANTS_OF_RANK * (sms_nprocs + 1);
  const size_t of_octant = sizeof(int64_t) + sizeof(int32_t) + sizeof(made);
  s->pitch = (sizeof(board) + of_octant * (size_t)s->most + 4095) / 4096 * 4096;
  const int dim[] = {sms_nprocs, (int)s->pitch, -1}, div[] = {sms_nprocs, 1, -1};
  s->boards = sms_mapalloc(dim, div, 1, 0, sms_nprocs);
  s->octants = bh_room(b, NULL, sizeof *s->octants * (size_t)s->most);
  s->last = bh_room(b, NULL, sizeof *s->last * (size_t)s->most);
  s->ends = bh_room(b, NULL, sizeof *s->ends * (size_t)s->most);
  s->areas = bh_room(b, NULL, sizeof *s->areas * 2 * (size_t)sms_nprocs);
  s->tops = bh_room(b, NULL, sizeof *s->tops * (size_t)s->most);
  s->taken = bh_room(b, NULL, sizeof *s->taken * (size_t)sms_nprocs);
  bool* const away = bh_room(b, NULL, sizeof *away * 2 * (size_t)sms_nprocs);
  board_of(s, sms_rank)->area = b->area;
  board_of(s, sms_rank)->node = sms_node;
  sms_barrier();
  for (int r = 0; r < sms_nprocs; r++) {
    s->areas[r] = board_of(s, r)->area;
    away[r] = away[sms_nprocs + r] = board_of(s, r)->node != sms_node;
  }
  b->areas = s->areas;
  b->away = away;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  share s = {.room = 0};
  bh* b = &s.bh;
  const memory shared = {.take = take, .give = give, .barrier = sms_barrier, .counters = count};
  bh_begin(b, PROGRAM, shared_team(), shared, argc, argv);
  team_agree(&b->team, sms_nprocs <= b->size, TEAM_BAD_INPUT,
             "%d ranks are more than the %d bodies; use fewer ranks or a larger --size", sms_nprocs, b->size);
  const int dim[] = {b->size, COLUMNS, -1}, div[] = {sms_nprocs, 1, -1};
  bh_start(b, sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs));
  open_boards(&s);
  bh_run(b, build);
  const int status = bh_finish(b);
  area_free(b, &s.box);
  sms_mfree(board_of(&s, sms_rank)->sent);
  sms_shutdown();
  free(s.octants), free(s.last), free(s.ends), free(s.areas), free(s.tops), free(s.taken), free(s.mine), free(s.other),
      free(s.which);
  free((void*)b->away);
  return status;
}
