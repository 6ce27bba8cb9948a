/* What programs do wrong with collective operations, one case each: collectives_misuse CASE. misuse.py knows what must
 * come of each of them.
 *
 * A case is called by all ranks, after sms_startup unless it begins with "before". `guilty` is true on rank 1, or on
 * rank 0 if that is the only one.
 */
#include <hiroba/collective.h>
#include <unistd.h>
#include <xmp.h>

#include "programs.h"

#define LARGE 100000

static double x[LARGE], y[LARGE];
static hiroba_request request;
static const hiroba_team all = HIROBA_ALL;

static int guilty(void) { return sms_rank == (sms_nprocs > 1); }

static void larger(void* mine, const void* theirs, int64_t count, void* context) {
  double* const a = mine;
  const double* const b = theirs;
  (void)context;
  for (int64_t i = 0; i < count; i++) a[i] = a[i] < b[i] ? b[i] : a[i];
}

/* ---- calls that differ ------------------------------------------------------------------------------------- */

static void counts(void) { hiroba_allreduce(x, y, guilty() ? 3 : 4, HIROBA_DOUBLE, HIROBA_SUM, all); }
static void counts_large(void) { hiroba_allreduce(x, y, guilty() ? LARGE : LARGE - 1, HIROBA_DOUBLE, HIROBA_SUM, all); }
/* The one goes by a lane, the other does not. */
static void counts_small_and_large(void) {
  hiroba_allreduce(x, y, guilty() ? LARGE : 1, HIROBA_DOUBLE, HIROBA_SUM, all);
}
static void counts_started(void) {
  hiroba_iallreduce(x, y, guilty() ? 3 : 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  hiroba_wait(&request);
}
static void counts_of_bcast(void) { hiroba_bcast(x, guilty() ? 3 : 4, HIROBA_DOUBLE, 0, all); }
static void counts_of_gather(void) { hiroba_gather(x, y, guilty() ? 3 : 4, HIROBA_DOUBLE, 0, all); }
static void types(void) { hiroba_allreduce(x, y, 4, guilty() ? HIROBA_INT64 : HIROBA_DOUBLE, HIROBA_SUM, all); }
static void operators(void) { hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, guilty() ? HIROBA_MAX : HIROBA_MIN, all); }
static void roots(void) { hiroba_reduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, guilty(), all); }
static void roots_of_bcast(void) { hiroba_bcast(x, 4, HIROBA_DOUBLE, guilty(), all); }
static void roots_large(void) { hiroba_reduce(x, y, LARGE, HIROBA_DOUBLE, HIROBA_SUM, guilty(), all); }
static void roots_of_bcast_large(void) { hiroba_bcast(x, LARGE, HIROBA_DOUBLE, guilty(), all); }
/* Neither root waits for the other; what comes next tells. */
static void roots_and_more(void) {
  hiroba_bcast(x, 4, HIROBA_DOUBLE, guilty(), all);
  hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
}
static void roots_tested(void) {
  hiroba_igather(x, y, 4, HIROBA_DOUBLE, guilty(), all, &request);
  for (int done = 0; !done;) hiroba_test(&request, &done);
}
static void root_after_long_name(void) {
  const hiroba_operator own = {larger, NULL, "the larger of two numbers, taken from all ranks, of which none is a NaN"};
  hiroba_reduce(x, y, 4, HIROBA_DOUBLE, &own, guilty(), all);
}
static void other_call(void) {
  if (guilty()) hiroba_allgather(x, y, 4, HIROBA_DOUBLE, all);
  else hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
}
static void started_or_not(void) {
  if (guilty()) hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
  hiroba_iallreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  hiroba_wait(&request);
}
static void blocks_between_two(void) {
  int64_t give[8], take[8];
  for (int i = 0; i < sms_nprocs; i++) give[i] = take[i] = 2;
  if (guilty()) give[0] = 3;
  hiroba_alltoallv(x, give, NULL, y, take, NULL, HIROBA_DOUBLE, all);
}
static void blocks_of_gather(void) {
  int64_t counts_of[8];
  for (int i = 0; i < sms_nprocs; i++) counts_of[i] = 2;
  hiroba_gatherv(x, guilty() ? 3 : 2, y, counts_of, NULL, HIROBA_DOUBLE, 0, all);
}

/* ---- calls that somebody does not make ---------------------------------------------------------------------- */

static void one_less(void) {
  if (!guilty()) hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
  if (guilty()) sleep(60);
}
static void one_less_large(void) {
  if (!guilty()) hiroba_alltoall(x, y, LARGE / 8, HIROBA_DOUBLE, all);
  if (guilty()) sleep(60);
}
static void one_less_started(void) {
  if (!guilty()) {
    hiroba_iallreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
    hiroba_wait(&request);
  }
  if (guilty()) sleep(60);
}
static void one_less_barrier(void) {
  if (!guilty()) hiroba_barrier(all);
  if (guilty()) sleep(60);
}
static void one_less_of_team(void) {
  hiroba_team two;
  hiroba_team_split(all, sms_rank < 2 ? 0 : -1, 0, &two);
  if (sms_rank == 0) hiroba_bcast(x, LARGE, HIROBA_DOUBLE, 1, two);
  if (guilty()) sleep(60);
}

/* ---- arguments --------------------------------------------------------------------------------------------- */

static void overlap(void) {
  if (guilty()) hiroba_allreduce(x, x + 2, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
}
static void overlap_of_gather(void) {
  if (guilty()) hiroba_allgather(y + 1, y, 2, HIROBA_DOUBLE, all);
}
static void overlap_of_blocks(void) {
  int64_t of[8], at[8];
  for (int i = 0; i < sms_nprocs; i++) of[i] = 2, at[i] = 4 * i;
  if (guilty()) hiroba_alltoallv(x + 1, of, at, x, of, at, HIROBA_DOUBLE, all);
}
/* Blocks of the one between those of the other are right. */
static void interleaved(void) {
  int64_t of[8], at[8];
  for (int i = 0; i < sms_nprocs; i++) of[i] = 2, at[i] = 4 * i;
  hiroba_alltoallv(x + 2, of, at, x, of, at, HIROBA_DOUBLE, all);
}
static void null_send(void) {
  if (guilty()) hiroba_allreduce(NULL, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
}
static void null_recv(void) {
  if (guilty()) hiroba_ialltoall(x, NULL, 4, HIROBA_DOUBLE, all, &request);
}
static void null_recv_of_blocks(void) {
  const int64_t of[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (guilty()) hiroba_allgatherv(x, 1, NULL, of, NULL, HIROBA_DOUBLE, all);
}
static void null_counts(void) {
  if (guilty()) hiroba_allgatherv(x, 1, y, NULL, NULL, HIROBA_DOUBLE, all);
}
static void root_too_large(void) {
  if (guilty()) hiroba_bcast(x, 4, HIROBA_DOUBLE, sms_nprocs, all);
}
static void root_negative(void) {
  if (guilty()) hiroba_reduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, -1, all);
}
static void count_negative(void) {
  if (guilty()) hiroba_allgather(x, y, -4, HIROBA_DOUBLE, all);
}
static void counts_negative(void) {
  const int64_t of[8] = {1, -1, 1, 1, 1, 1, 1, 1};
  if (guilty()) hiroba_reduce_scatter(x, y, of, HIROBA_DOUBLE, HIROBA_SUM, all);
}
static void no_type(void) {
  if (guilty()) hiroba_bcast(x, 4, 77, 0, all);
}
static void no_operator(void) {
  if (guilty()) hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, NULL, all);
}
static void operator_without_function(void) {
  static const hiroba_operator own = {NULL, NULL, "mine"};
  if (guilty()) hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, &own, all);
}
static void sum_of_structs(void) {
  if (guilty()) hiroba_allreduce(x, y, 4, HIROBA_TYPE(24), HIROBA_SUM, all);
}
static void bits_of_doubles(void) {
  if (guilty()) hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_BXOR, all);
}
static void in_place_elsewhere(void) { hiroba_gather(HIROBA_IN_PLACE, y, 4, HIROBA_DOUBLE, 0, all); }
static void in_place_as_recv(void) {
  if (guilty()) hiroba_allreduce(x, HIROBA_IN_PLACE, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
}
static void neighbour(void) {
  const int to[1] = {sms_nprocs};
  if (guilty()) hiroba_neighbor_alltoall(x, 1, to, y, 1, to, 4, HIROBA_DOUBLE, all);
}

/* ---- requests ---------------------------------------------------------------------------------------------- */

static void start_one(void) { hiroba_iallreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request); }
static void wait_twice(void) {
  start_one();
  hiroba_request copy = request;
  hiroba_wait(&request);
  hiroba_wait(&request); /* returns at once */
  if (guilty()) hiroba_wait(&copy);
}
static void wait_never(void) {
  if (guilty()) start_one();
  else start_one(), hiroba_wait(&request);
}
static void wait_of_nothing(void) {
  request.number = 12345;
  if (guilty()) hiroba_wait(&request);
}
static void start_of_no_persistent(void) {
  start_one();
  if (guilty()) hiroba_start(&request);
  hiroba_wait(&request);
}
static void start_twice(void) {
  hiroba_allreduce_init(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  if (guilty()) hiroba_start(&request), hiroba_start(&request);
}
static void persistent_left(void) {
  hiroba_allreduce_init(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  hiroba_start(&request);
  if (!guilty()) hiroba_wait(&request);
}
static void nothing_to_do(void* unused) { (void)unused; }
static void then_left(void) {
  if (guilty()) start_one(), hiroba_then(&request, nothing_to_do, NULL);
  if (guilty()) sms_shutdown();
  sleep(60);
}
static void then_and_wait(void) {
  if (!guilty()) return;
  start_one();
  hiroba_request copy = request;
  hiroba_then(&request, nothing_to_do, NULL);
  hiroba_wait(&copy);
}
static void then_of_persistent(void) {
  hiroba_allreduce_init(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  if (guilty()) hiroba_then(&request, nothing_to_do, NULL);
}
static void freed_in_flight(void) {
  double* shared = sms_alloc(sizeof(double), LARGE, 0);
  sms_name(shared, "results");
  hiroba_iallreduce(x, shared + 100 * sms_rank, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  sms_free(shared);
}
static void freed_after_wait(void) {
  double* shared = sms_alloc(sizeof(double), LARGE, 0);
  hiroba_iallreduce(x, shared + 100 * sms_rank, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  hiroba_wait(&request);
  sms_free(shared);
}

/* ---- teams ------------------------------------------------------------------------------------------------- */

static hiroba_team evens(void) {
  hiroba_team team;
  hiroba_team_split(all, sms_rank % 2 == 0 ? 0 : -1, 0, &team);
  return team;
}
static void not_a_member(void) {
  const hiroba_team team = evens();
  if (guilty()) hiroba_barrier(team);
}
static void free_all(void) {
  hiroba_team team = HIROBA_ALL;
  if (guilty()) hiroba_team_free(&team);
}
static void free_twice(void) {
  hiroba_team team, copy;
  hiroba_team_split(all, 0, 0, &team);
  copy = team;
  hiroba_team_free(&team);
  hiroba_team_free(&team); /* is HIROBA_NO_TEAM */
  if (guilty()) hiroba_team_free(&copy);
}
static void use_of_freed(void) {
  hiroba_team team, copy;
  hiroba_team_split(all, 0, 0, &team);
  copy = team;
  hiroba_team_free(&team);
  if (guilty()) hiroba_bcast(x, 4, HIROBA_DOUBLE, 0, copy);
}
static void freed_under_way(void) {
  hiroba_team team;
  hiroba_team_split(all, 0, 0, &team);
  hiroba_iallreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, team, &request);
  hiroba_team_free(&team);
}
static void member_too_large(void) {
  if (guilty()) printf("%d\n", hiroba_team_member(all, sms_nprocs));
}
static void list_with_stranger(void) {
  const int ranks[] = {0, 9};
  hiroba_team team;
  if (guilty()) hiroba_team_from_list(all, 2, ranks, &team);
}
static void list_with_twins(void) {
  const int ranks[] = {0, 0};
  hiroba_team team;
  if (guilty()) hiroba_team_from_list(all, 2, ranks, &team);
}

static const char* name_of_nodes = "p";
static xmp_nodes line = {.name = "line", .dims = 1}; /* the first definition of a node array is collective */
static hiroba_team of_images(hiroba_team parent, int first, int count) {
  const xmp_node_reference reference = {&line, {{first, count, 1}}};
  xmp_nodes part = {.name = name_of_nodes, .dims = 1};
  hiroba_team team;
  part.of = &reference;
  xmp_nodes_define(&part);
  hiroba_team_from_nodes(parent, &part, &team);
  return team;
}
static void nodes_null(void) {
  hiroba_team team;
  if (guilty()) hiroba_team_from_nodes(all, NULL, &team);
}
static void nodes_not_defined(void) {
  static const xmp_nodes p = {.name = "p", .dims = 1};
  hiroba_team team;
  if (guilty()) hiroba_team_from_nodes(all, &p, &team);
}
static void nodes_are_coarray(void) {
  const int64_t extent[] = {8};
  hiroba_team team;
  xmp_nodes_define(&line);
  const xmp_desc_t descriptor = xmp_coarray_malloc(sizeof(double), 1, extent, "a", "here");
  if (guilty()) hiroba_team_from_nodes(all, descriptor, &team);
}
static void nodes_of_others(void) {
  const hiroba_team team = evens();
  xmp_nodes_define(&line);
  if (sms_rank == 0) of_images(team, 0, 2);
}
static void nodes_overlap(void) {
  xmp_nodes_define(&line);
  of_images(all, guilty(), guilty() ? 1 : 2);
}
static void nodes_of_other_name(void) {
  if (guilty()) name_of_nodes = "q";
  xmp_nodes_define(&line);
  of_images(all, 0, sms_nprocs);
}
static void nodes_use_by_others(void) {
  xmp_nodes_define(&line);
  const hiroba_team team = of_images(all, 0, 1);
  if (guilty()) hiroba_barrier(team);
}
static void nodes_one_less(void) {
  xmp_nodes_define(&line);
  if (!guilty()) of_images(all, 0, 1);
  if (guilty()) sleep(60);
}

/* ---- before and after --------------------------------------------------------------------------------------- */

static void before_barrier(void) { hiroba_barrier(all); }
static void before_iallreduce(void) { start_one(); }
static void before_nodes(void) {
  static const xmp_nodes p = {.name = "p", .dims = 1};
  hiroba_team team;
  hiroba_team_from_nodes(all, &p, &team);
}
static void before_wait(void) {
  request.number = 1;
  hiroba_wait(&request);
}
static void after_allreduce(void) {
  sms_shutdown();
  hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(counts),
    CASE(counts_large),
    CASE(counts_small_and_large),
    CASE(counts_started),
    CASE(counts_of_bcast),
    CASE(counts_of_gather),
    CASE(types),
    CASE(operators),
    CASE(roots),
    CASE(roots_of_bcast),
    CASE(roots_large),
    CASE(roots_of_bcast_large),
    CASE(roots_and_more),
    CASE(roots_tested),
    CASE(root_after_long_name),
    CASE(other_call),
    CASE(started_or_not),
    CASE(blocks_between_two),
    CASE(blocks_of_gather),
    CASE(one_less),
    CASE(one_less_large),
    CASE(one_less_started),
    CASE(one_less_barrier),
    CASE(one_less_of_team),
    CASE(overlap),
    CASE(overlap_of_gather),
    CASE(overlap_of_blocks),
    CASE(interleaved),
    CASE(null_send),
    CASE(null_recv),
    CASE(null_recv_of_blocks),
    CASE(null_counts),
    CASE(root_too_large),
    CASE(root_negative),
    CASE(count_negative),
    CASE(counts_negative),
    CASE(no_type),
    CASE(no_operator),
    CASE(operator_without_function),
    CASE(sum_of_structs),
    CASE(bits_of_doubles),
    CASE(in_place_elsewhere),
    CASE(in_place_as_recv),
    CASE(neighbour),
    CASE(wait_twice),
    CASE(wait_never),
    CASE(wait_of_nothing),
    CASE(start_of_no_persistent),
    CASE(start_twice),
    CASE(persistent_left),
    CASE(then_left),
    CASE(then_and_wait),
    CASE(then_of_persistent),
    CASE(freed_in_flight),
    CASE(freed_after_wait),
    CASE(not_a_member),
    CASE(free_all),
    CASE(free_twice),
    CASE(use_of_freed),
    CASE(freed_under_way),
    CASE(member_too_large),
    CASE(list_with_stranger),
    CASE(list_with_twins),
    CASE(nodes_null),
    CASE(nodes_not_defined),
    CASE(nodes_are_coarray),
    CASE(nodes_of_others),
    CASE(nodes_overlap),
    CASE(nodes_of_other_name),
    CASE(nodes_use_by_others),
    CASE(nodes_one_less),
    CASE(before_barrier),
    CASE(before_nodes),
    CASE(before_iallreduce),
    CASE(before_wait),
    CASE(after_allreduce)};

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(name, cases[i].name) != 0) continue;
    if (strncmp(name, "before", 6) == 0) cases[i].run();
    sms_startup(&argc, &argv);
    if (strncmp(name, "before", 6) != 0) cases[i].run();
    hiroba_barrier(all);
    sms_shutdown();
    return 0;
  }
  fprintf(stderr, "no such case: %s\n", name);
  return 2;
}
