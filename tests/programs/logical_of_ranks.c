/* Logical operators give 0 or 1 with any number of ranks, also where the values of one rank alone are combined. */
#include <hiroba/collective.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 3, LARGE = 20000 };
static const int given[COUNT] = {6, 0, -1}, expected[COUNT] = {1, 0, 1};

static void compare(const int* got, const char* what) {
  for (int i = 0; i < COUNT; i++) {
    if (got[i] == expected[i]) continue;
    fprintf(stderr, "rank %d: %s: element %d is %d, not %d\n", sms_rank, what, i, got[i], expected[i]);
    exit(1);
  }
}

static void try_operator(hiroba_op op, hiroba_team team) {
  int got[COUNT];
  hiroba_allreduce(given, got, COUNT, HIROBA_INT, op, team);
  compare(got, "allreduce");
  hiroba_reduce(given, got, COUNT, HIROBA_INT, op, 0, team);
  if (hiroba_team_rank(team) == 0) compare(got, "reduce");
  hiroba_scan(given, got, COUNT, HIROBA_INT, op, team);
  compare(got, "scan");
  hiroba_exscan(given, got, COUNT, HIROBA_INT, op, team);
  if (hiroba_team_rank(team) > 0) compare(got, "exscan");
  for (int i = 0; i < COUNT; i++) got[i] = given[i];
  hiroba_allreduce(HIROBA_IN_PLACE, got, COUNT, HIROBA_INT, op, team);
  compare(got, "allreduce in place");
  hiroba_request request;
  hiroba_iallreduce(given, got, COUNT, HIROBA_INT, op, team, &request);
  hiroba_wait(&request);
  compare(got, "iallreduce");
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  hiroba_team alone;
  hiroba_team_split(HIROBA_ALL, sms_rank, 0, &alone);
  for (int k = 0; k < 2; k++) {
    try_operator(k == 0 ? HIROBA_LAND : HIROBA_LOR, HIROBA_ALL);
    try_operator(k == 0 ? HIROBA_LAND : HIROBA_LOR, alone);
  }
  static double many[LARGE], both[LARGE];
  for (int i = 0; i < LARGE; i++) many[i] = i % 2 * 0.5;
  hiroba_allreduce(many, both, LARGE, HIROBA_DOUBLE, HIROBA_LOR, HIROBA_ALL);
  for (int i = 0; i < LARGE; i++)
    if (both[i] != i % 2) return fprintf(stderr, "element %d is %g\n", i, both[i]), 1;
  hiroba_team_free(&alone);
  sms_shutdown();
  return 0;
}
