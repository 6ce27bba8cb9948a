/* Random collective operations against a sequential oracle: all kinds, blocking, started (several under way, waited for
 * in any order) and persistent; teams; private memory, memory of this rank, memory of another one; in place; operators
 * whose order matters. Every rank draws the same operations from the seed and works out what it must get. The last team
 * is of a node array.
 *
 *   collectives [--seed N] [--count OPERATIONS] [--most BYTES]
 */
#include <hiroba/collective.h>
#include <xmp.h>

#include "programs.h"

#define SLOTS 4
#define TEAMS 4

/* Of 2 x 2 matrices modulo a prime: associative, and the order matters. */
typedef struct matrix {
  uint32_t at[4];
} matrix;
#define PRIME 65521u

static matrix times(matrix a, matrix b) {
  matrix out;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      out.at[2 * i + j] =
          (uint32_t)(((uint64_t)a.at[2 * i] * b.at[j] + (uint64_t)a.at[2 * i + 1] * b.at[2 + j]) % PRIME);
  return out;
}

static void multiply(void* mine, const void* theirs, int64_t count, void* context) {
  matrix* a = mine;
  const matrix* b = theirs;
  for (int64_t i = 0; i < count; i++) a[i] = times(a[i], b[i]);
  ++*(int64_t*)context;
}

static int64_t multiplications;
static hiroba_operator product = {multiply, &multiplications, "product of matrices"};

enum kind {
  BCAST,
  REDUCE,
  ALLREDUCE,
  SCAN,
  EXSCAN,
  GATHER,
  SCATTER,
  ALLGATHER,
  ALLTOALL,
  BLOCKS,
  GATHERV,
  SCATTERV,
  ALLGATHERV,
  ALLTOALLV,
  SCATTER_SUMS,
  NEIGHBOURS,
  BARRIER,
  KINDS
};
static const char* const names[KINDS] = {"bcast",          "reduce",
                                         "allreduce",      "scan",
                                         "exscan",         "gather",
                                         "scatter",        "allgather",
                                         "alltoall",       "reduce_scatter_block",
                                         "gatherv",        "scatterv",
                                         "allgatherv",     "alltoallv",
                                         "reduce_scatter", "neighbor_alltoall",
                                         "barrier"};

/* An operation, as all ranks draw it. */
typedef struct operation {
  uint64_t id;
  int kind, team, root, form, in_place;
  int is_matrix; /* else int64 with a sum or maximum */
  int is_maximum;
  int64_t count; /* of a block */
} operation;

/* What it works on here. */
typedef struct slot {
  operation op;
  int used;
  matrix *send, *recv; /* room for `room` elements each */
  int64_t counts[64], displs[64], takes[64], take_displs[64];
  int to[4], from[4];
  hiroba_request request;
} slot;

static hiroba_team teams[TEAMS];
static int sizes[TEAMS], mine[TEAMS], members[TEAMS][64];
static int64_t room;
static slot slots[SLOTS];

static size_t element_of(const operation* op) { return op->is_matrix ? sizeof(matrix) : sizeof(int64_t); }
static hiroba_type type_of(const operation* op) { return op->is_matrix ? HIROBA_TYPE(sizeof(matrix)) : HIROBA_INT64; }

/* Element i of what a member gives. */
static matrix value(const operation* op, int member, int64_t i) {
  const uint64_t h = mix2(mix2(op->id, (uint64_t)member), (uint64_t)i);
  matrix out = {{0, 0, 0, 0}};
  if (op->is_matrix) {
    for (int k = 0; k < 4; k++) out.at[k] = (uint32_t)(h >> (16 * k)) % PRIME;
  } else {
    out.at[0] = (uint32_t)h, out.at[1] = (uint32_t)(h >> 33);
  }
  return out;
}

static int64_t number(matrix m) {
  int64_t out;
  memcpy(&out, &m, sizeof out);
  return out;
}

static matrix joined(const operation* op, matrix a, matrix b) {
  if (op->is_matrix) return times(a, b);
  const int64_t x = number(a), y = number(b),
                z = op->is_maximum ? (x > y ? x : y) : (int64_t)((uint64_t)x + (uint64_t)y);
  matrix out = {{0, 0, 0, 0}};
  memcpy(&out, &z, sizeof z);
  return out;
}

/* Element i of members first..last-1 combined. */
static matrix combined(const operation* op, int first, int last, int64_t i) {
  matrix out = value(op, first, i);
  for (int m = first + 1; m < last; m++) out = joined(op, out, value(op, m, i));
  return out;
}

/* How many elements member `from` gives member `to`, where that differs. */
static int64_t varied(const operation* op, int from, int to) {
  return (int64_t)(mix2(mix2(op->id, (uint64_t)from + 77), (uint64_t)to) % (uint64_t)(op->count + 1));
}

static void check(const slot* s, int64_t at, matrix wanted, const char* what) {
  const size_t element = element_of(&s->op);
  if (memcmp((const char*)s->recv + (size_t)at * element, &wanted, element) != 0)
    fail("rank %d: operation %llu, %s of %lld %s in team %d, form %d: element %lld is wrong (%s)", sms_rank,
         (unsigned long long)s->op.id, names[s->op.kind], (long long)s->op.count,
         s->op.is_matrix ? "matrices" : "numbers", s->op.team, s->op.form, (long long)at, what);
}

static void store(const slot* s, matrix* to, int64_t at, matrix m) {
  memcpy((char*)to + (size_t)at * element_of(&s->op), &m, element_of(&s->op));
}

/* Elements 0.. of `member`'s send buffer, whatever the operation. */
static void fill(slot* s, matrix* to, int64_t at, int64_t first, int64_t n) {
  for (int64_t i = 0; i < n; i++) store(s, to, at + i, value(&s->op, mine[s->op.team], first + i));
}

static void prepare(slot* s) {
  const operation* op = &s->op;
  const int n = sizes[op->team], me = mine[op->team];
  const int64_t c = op->count;
  int64_t give = c, at = 0;
  memset(s->recv, 0xee, (size_t)room * sizeof(matrix));
  if (op->kind == SCATTER || op->kind == ALLTOALL || op->kind == BLOCKS) give = c * n;
  if (op->kind == NEIGHBOURS) give = 2 * c;
  if (op->kind == SCATTERV || op->kind == ALLTOALLV || op->kind == SCATTER_SUMS) {
    for (int i = 0; i < n; i++) {
      s->counts[i] = op->kind == SCATTER_SUMS ? varied(op, 0, i) : varied(op, me, i);
      s->displs[i] = at, at += s->counts[i];
    }
    give = at;
  }
  if (op->kind == GATHERV || op->kind == ALLGATHERV || op->kind == ALLTOALLV) {
    at = 0;
    for (int i = n; i-- > 0;) { /* the last one first */
      s->takes[i] = varied(op, i, op->kind == ALLTOALLV ? me : 0);
      s->take_displs[i] = at, at += s->takes[i];
    }
  }
  if (op->kind == GATHERV || op->kind == ALLGATHERV) give = varied(op, me, 0);
  s->to[0] = (me + 1) % n, s->to[1] = (me + n - 1) % n;
  s->from[0] = (me + n - 1) % n, s->from[1] = (me + 1) % n;
  fill(s, s->send, 0, 0, give);
  if (op->in_place) memcpy(s->recv, s->send, (size_t)give * element_of(op));
  if (op->kind == BCAST && me == op->root) fill(s, s->recv, 0, 0, c);
}

/* The three forms of a call. */
#define RUN(name, ...)                                                                                  \
  do {                                                                                                  \
    if (op->form == 0) hiroba_##name(__VA_ARGS__, team);                                                \
    if (op->form == 1) hiroba_i##name(__VA_ARGS__, team, &s->request);                                  \
    if (op->form == 2) hiroba_##name##_init(__VA_ARGS__, team, &s->request), hiroba_start(&s->request); \
  } while (0)

static void call(slot* s) {
  const operation* op = &s->op;
  const hiroba_type type = type_of(op);
  const hiroba_op o = op->is_matrix ? &product : op->is_maximum ? HIROBA_MAX : HIROBA_SUM;
  const hiroba_team team = teams[op->team];
  const int me = mine[op->team];
  const void* send = op->in_place && (op->kind != REDUCE || me == op->root) ? HIROBA_IN_PLACE : s->send;
  const int64_t c = op->count;
  switch (op->kind) {
    case BCAST: RUN(bcast, s->recv, c, type, op->root); break;
    case REDUCE: RUN(reduce, send, s->recv, c, type, o, op->root); break;
    case ALLREDUCE: RUN(allreduce, send, s->recv, c, type, o); break;
    case SCAN: RUN(scan, send, s->recv, c, type, o); break;
    case EXSCAN: RUN(exscan, send, s->recv, c, type, o); break;
    case GATHER: RUN(gather, s->send, s->recv, c, type, op->root); break;
    case SCATTER: RUN(scatter, s->send, s->recv, c, type, op->root); break;
    case ALLGATHER: RUN(allgather, s->send, s->recv, c, type); break;
    case ALLTOALL: RUN(alltoall, send, s->recv, c, type); break;
    case BLOCKS: RUN(reduce_scatter_block, send, s->recv, c, type, o); break;
    case GATHERV: RUN(gatherv, s->send, varied(op, me, 0), s->recv, s->takes, s->take_displs, type, op->root); break;
    case SCATTERV:
      RUN(scatterv, s->send, s->counts, s->displs, s->recv, varied(op, op->root, me), type, op->root);
      break;
    case ALLGATHERV: RUN(allgatherv, s->send, varied(op, me, 0), s->recv, s->takes, s->take_displs, type); break;
    case ALLTOALLV: RUN(alltoallv, s->send, s->counts, s->displs, s->recv, s->takes, s->take_displs, type); break;
    case SCATTER_SUMS: RUN(reduce_scatter, send, s->recv, s->counts, type, o); break;
    case NEIGHBOURS: RUN(neighbor_alltoall, s->send, 2, s->to, s->recv, 2, s->from, c, type); break;
    default:
      if (op->form == 0) hiroba_barrier(team);
      else if (op->form == 1) hiroba_ibarrier(team, &s->request);
      else hiroba_barrier_init(team, &s->request), hiroba_start(&s->request);
  }
}

/* Element `at` of the block for member `to` is this element of what a member gives. */
static int64_t given(const operation* op, int from, int to) {
  int64_t at = 0;
  if (op->kind == ALLTOALL || op->kind == SCATTER || op->kind == BLOCKS) return (int64_t)to * op->count;
  if (op->kind == ALLTOALLV || op->kind == SCATTERV)
    for (int i = 0; i < to; i++) at += varied(op, from, i);
  if (op->kind == SCATTER_SUMS)
    for (int i = 0; i < to; i++) at += varied(op, 0, i);
  return at;
}

static void verify(const slot* s) {
  const operation* op = &s->op;
  const int n = sizes[op->team], me = mine[op->team], is_root = me == op->root;
  const int64_t c = op->count;
  const int all = op->kind == ALLGATHER || op->kind == ALLTOALL || (op->kind == GATHER && is_root);
  if (op->kind == BCAST || op->kind == SCATTER)
    for (int64_t i = 0; i < c; i++) check(s, i, value(op, op->root, given(op, op->root, me) + i), "from the root");
  if (op->kind == ALLREDUCE || (op->kind == REDUCE && is_root))
    for (int64_t i = 0; i < c; i++) check(s, i, combined(op, 0, n, i), "of all");
  if (op->kind == SCAN || (op->kind == EXSCAN && me > 0))
    for (int64_t i = 0; i < c; i++) check(s, i, combined(op, 0, op->kind == SCAN ? me + 1 : me, i), "of those before");
  if (op->kind == BLOCKS || op->kind == SCATTER_SUMS)
    for (int64_t i = 0; i < (op->kind == BLOCKS ? c : s->counts[me]); i++)
      check(s, i, combined(op, 0, n, given(op, 0, me) + i), "of a block");
  if (op->kind == SCATTERV)
    for (int64_t i = 0; i < varied(op, op->root, me); i++)
      check(s, i, value(op, op->root, given(op, op->root, me) + i), "from the root");
  for (int m = 0; all && m < n; m++)
    for (int64_t i = 0; i < c; i++) check(s, m * c + i, value(op, m, given(op, m, me) + i), "of a member");
  for (int m = 0; (op->kind == ALLGATHERV || op->kind == ALLTOALLV || (op->kind == GATHERV && is_root)) && m < n; m++)
    for (int64_t i = 0; i < s->takes[m]; i++)
      check(s, s->take_displs[m] + i, value(op, m, given(op, m, me) + i), "of a member");
  for (int k = 0; op->kind == NEIGHBOURS && k < 2; k++) /* what went to the right comes from the left */
    for (int64_t i = 0; i < c; i++) check(s, k * c + i, value(op, s->from[k], k * c + i), "of a neighbour");
}

static void finish(slot* s, rng* draw) {
  if (!s->used) return;
  int done = 0;
  for (int looks = rng_int(draw, 3); looks > 0 && s->op.form == 1; looks--) hiroba_test(&s->request, &done);
  hiroba_wait(&s->request);
  verify(s);
  if (s->op.form == 2) {
    prepare(s);
    hiroba_start(&s->request);
    hiroba_wait(&s->request);
    verify(s);
    hiroba_request_free(&s->request);
  }
  s->used = 0;
}

/* Node arrays are evenly spaced. */
static int color_of(int of_nodes, uint64_t id, int rank, int colors) {
  return of_nodes ? rank % colors : (int)(mix2(id, (uint64_t)rank) % (uint64_t)colors);
}

static void team_of_nodes(int first, int size, int step, hiroba_team* out) {
  xmp_nodes line = {.name = "line", .dims = 1}, part = {.name = "part", .dims = 1};
  xmp_nodes_define(&line);
  const xmp_node_reference reference = {&line, {{first, size, step}}};
  part.of = &reference;
  xmp_nodes_define(&part);
  hiroba_team_from_nodes(HIROBA_ALL, &part, out);
}

static void make_teams(rng* draw) {
  for (int t = 0; t < TEAMS; t++) {
    teams[t] = HIROBA_ALL, sizes[t] = sms_nprocs, mine[t] = sms_rank;
    for (int r = 0; r < sms_nprocs; r++) members[t][r] = r;
  }
  for (int t = 1; t < TEAMS; t++) {
    const uint64_t id = rng_next(draw);
    const int colors = 1 + rng_int(draw, 2), backwards = rng_int(draw, 2);
    const int of_nodes = t == TEAMS - 1, color = color_of(of_nodes, id, sms_rank, colors);
    sizes[t] = 0;
    for (int k = 0; k < sms_nprocs; k++) {
      const int r = backwards ? sms_nprocs - 1 - k : k;
      if (color_of(of_nodes, id, r, colors) == color) members[t][sizes[t]++] = r;
    }
    if (of_nodes) team_of_nodes(members[t][0], sizes[t], backwards ? -colors : colors, &teams[t]);
    else hiroba_team_split(HIROBA_ALL, color, backwards ? -sms_rank : 0, &teams[t]);
    if (hiroba_team_size(teams[t]) != sizes[t]) fail("rank %d: a team has the wrong size", sms_rank);
    mine[t] = hiroba_team_rank(teams[t]);
    for (int m = 0; m < sizes[t]; m++)
      if (hiroba_team_member(teams[t], m) != members[t][m]) fail("rank %d: a team has the wrong members", sms_rank);
  }
}

/* Kinds of memory: 0 private, 1 shared and this rank's, 2 shared and the next rank's. */
static matrix* buffer(matrix* shared, int owner, int slot_number, int which) {
  const int64_t parts = 2 * SLOTS;
  return shared + ((int64_t)owner * parts + 2 * slot_number + which) * room;
}

/* Who gives or takes nothing may say NULL, which is not HIROBA_IN_PLACE. The first rank gives the last one a number,
 * twice: the second call notices what the first one has left. */
static void give_null(void) {
  const int last = sms_nprocs - 1, gives = sms_rank == 0 && last > 0, takes = sms_rank == last && last > 0;
  int64_t *const to = calloc((size_t)sms_nprocs, sizeof *to), *const from = calloc((size_t)sms_nprocs, sizeof *from);
  const int number = 5;
  int got = 0;
  to[last] = gives, from[0] = takes;
  for (int k = 0; k < 2; k++)
    hiroba_alltoallv(gives ? &number : NULL, to, NULL, takes ? &got : NULL, from, NULL, HIROBA_INT, HIROBA_ALL);
  if (got != (takes ? number : 0)) fail("rank %d: hiroba_alltoallv gave %d", sms_rank, got);
  free(to), free(from);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const uint64_t seed = (uint64_t)option_number(argc, argv, "--seed", 1);
  const long count = option_number(argc, argv, "--count", 300);
  const int64_t most = option_number(argc, argv, "--most", 200000);
  rng draw = {mix(seed)};
  room = most / (int64_t)sizeof(matrix) + 64 * sms_nprocs;
  matrix* shared[2]; /* each rank has a part of its own of the one, the ranks after it of the other */
  for (int k = 0; k < 2; k++) {
    const int64_t dim[] = {sms_nprocs, 2 * SLOTS * room, -1}, div[] = {sms_nprocs, 1, -1};
    shared[k] = sms_mapalloc_large(dim, div, sizeof(matrix), 0, sms_nprocs);
  }
  matrix* own = malloc((size_t)(2 * SLOTS * room) * sizeof(matrix));
  make_teams(&draw);
  for (long k = 0; k < count; k++) {
    const int number_of_slot = rng_int(&draw, SLOTS), memory = rng_int(&draw, 3), large = rng_once_in(&draw, 5);
    slot* s = &slots[number_of_slot];
    rng local = {mix2(draw.state, (uint64_t)sms_rank)};
    finish(s, &local);
    operation* op = &s->op;
    op->id = rng_next(&draw), op->kind = rng_int(&draw, KINDS), op->team = rng_int(&draw, TEAMS);
    op->form = rng_int(&draw, 5) % 3, op->is_matrix = rng_int(&draw, 2), op->is_maximum = rng_int(&draw, 2);
    const uint64_t root = rng_next(&draw);
    op->root = (int)(root % (uint64_t)sizes[op->team]);
    const int in_place = rng_int(&draw, 2);
    op->in_place = in_place && (op->kind == REDUCE || op->kind == ALLREDUCE || op->kind == SCAN || op->kind == EXSCAN ||
                                op->kind == ALLTOALL || op->kind == BLOCKS || op->kind == SCATTER_SUMS);
    /* Teams of a colour have their own size; the count must fit into the largest. */
    op->count = (int64_t)rng_below(&draw, (uint64_t)(large ? room / (sms_nprocs + 1) : 1 + 40));
    for (int which = 0; which < 2; which++) {
      matrix** at = which == 0 ? &s->send : &s->recv;
      *at = memory == 0   ? own + (2 * number_of_slot + which) * room
            : memory == 1 ? buffer(shared[0], sms_rank, number_of_slot, which)
                          : buffer(shared[1], (sms_rank + 1) % sms_nprocs, number_of_slot, which);
    }
    prepare(s);
    call(s);
    s->used = op->form != 0;
    if (op->form == 0) verify(s);
  }
  for (int i = 0; i < SLOTS; i++) finish(&slots[(i + (int)seed) % SLOTS], &draw);
  give_null();
  for (int t = 1; t < TEAMS; t++) hiroba_team_free(&teams[t]);
  if (sms_rank == 0) printf("%ld collective operations of seed %llu are right\n", count, (unsigned long long)seed);
  free(own);
  sms_shutdown();
  return 0;
}
