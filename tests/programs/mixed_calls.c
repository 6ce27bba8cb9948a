/* Ranks that make other collective calls than the rest, or make them in another order, one case each, as programs do by
 * mistake: mixed_calls CASE. collectives_misuse.py knows what must come of each of them. `guilty` is true on rank 1.
 */
#include <hiroba/collective.h>
#include <unistd.h>

#include "programs.h"

#define LARGE 100000

static double x[LARGE], y[LARGE];
static hiroba_request request;
static const hiroba_team all = HIROBA_ALL;

static int guilty(void) { return sms_rank == 1; }
static void add(void) { hiroba_allreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all); }
static void transpose(void) { hiroba_alltoall(x, y, LARGE / 8, HIROBA_DOUBLE, all); }

static void barrier_or_not(void) {
  if (guilty()) add();
  else hiroba_barrier(all);
}
static void barrier_or_team(void) {
  hiroba_team team;
  if (guilty()) hiroba_team_split(all, 0, 0, &team);
  else sms_barrier();
}
static void barrier_or_started(void) {
  if (!guilty()) return sms_barrier();
  hiroba_iallreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  hiroba_wait(&request);
}
static void barrier_or_large(void) {
  if (guilty()) transpose();
  else sms_barrier();
}
/* The root waits for nothing but the end of its transfers. */
static void barrier_or_root(void) {
  if (guilty()) hiroba_bcast(x, LARGE, HIROBA_DOUBLE, 1, all);
  else sms_barrier();
}
static void allocation_or_not(void) {
  if (guilty()) sms_alloc(8, 10, 0);
  else add();
}
static void drop_or_not(void) {
  if (guilty()) sms_sync_drop();
  else add();
}
static void value_or_not(void) {
  if (guilty()) sms_reduce_int64(1, SMS_SUM);
  else add();
}
static void end_or_not(void) {
  if (guilty()) add();
  else sms_shutdown();
}
static void barrier_or_end(void) {
  if (guilty()) sms_barrier();
  else sms_shutdown();
}
/* One rank leaves a loop a step earlier. */
static void one_step_less(void) {
  for (int i = 0; i < (guilty() ? 40 : 41); i++) add();
  sms_barrier();
}
static void reduce_or_bcast(void) {
  if (guilty()) hiroba_bcast(x, 4, HIROBA_DOUBLE, 0, all);
  else hiroba_reduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, 0, all);
  add();
}

/* A rank that is only late is not accused, in whatever call the others wait for it. */
static void late_for_all(void) {
  for (int call = 0; call < 4; call++) {
    if (sms_rank == call % 2) usleep(600000);
    if (call == 0) add();
    if (call == 1) transpose();
    if (call == 2) sms_barrier();
    if (call == 3) hiroba_bcast(x, LARGE, HIROBA_DOUBLE, 1, all);
    sms_barrier();
  }
}
static void barrier_between_start_and_wait(void) {
  hiroba_request large;
  hiroba_iallreduce(x, y, 4, HIROBA_DOUBLE, HIROBA_SUM, all, &request);
  hiroba_ialltoall(x, y + 10, LARGE / 8 - 10, HIROBA_DOUBLE, all, &large);
  if (guilty()) usleep(600000);
  sms_barrier();
  if (!guilty()) usleep(600000);
  hiroba_wait(&large);
  hiroba_wait(&request);
}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    CASE(barrier_or_not),     CASE(barrier_or_team),
    CASE(barrier_or_started), CASE(barrier_or_large),
    CASE(barrier_or_root),    CASE(drop_or_not),
    CASE(value_or_not),       CASE(end_or_not),
    CASE(allocation_or_not),  CASE(barrier_or_end),
    CASE(one_step_less),      CASE(reduce_or_bcast),
    CASE(late_for_all),       CASE(barrier_between_start_and_wait),
};

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(name, cases[i].name) != 0) continue;
    sms_startup(&argc, &argv);
    add();
    cases[i].run();
    return sms_shutdown();
  }
  fprintf(stderr, "no such case: %s\n", name);
  return 2;
}
