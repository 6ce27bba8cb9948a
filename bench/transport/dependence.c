/* What a dependence between two ranks costs: tasks of rank 0 and of rank 1 by turns, each of which reads the section
 * that the other one has written, and changes its own. Half of the time from one task of rank 0 to its next is the time
 * from the end of a producer to the start of its consumer, and of a body of some ns. The tasks of a round have been
 * created when the times that count begin. Every body checks what it has got. Usage: transport_dependence COUNT ROUNDS;
 * prints a line of JSON. */
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <task.h>

#include "../../apps/common/clock.h"
#include "../../apps/common/shared.h"

enum { WORDS = 1024, FIRST = 4 }; /* of a section; trips of a round that do not count */

typedef struct turn {
  uint64_t *mine, *others;
  double* start; /* where the time is kept; NULL: nowhere */
  int number;
  int* wrong;
} turn;

/* Of a section the first and the last word, and each time another one, have the number of the last turn. */
static void body(void* argument) {
  const turn* const t = argument;
  if (t->start != NULL) *t->start = now();
  const uint64_t before = (uint64_t)t->number - 1, now = (uint64_t)t->number;
  if (t->others[0] != before || t->others[WORDS - 1] != before || t->others[before % WORDS] != before) *t->wrong = 1;
  t->mine[0] = t->mine[WORDS - 1] = t->mine[now % WORDS] = now;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  team us = shared_team();
  us.program = "transport_dependence";
  const int count = argc == 3 ? atoi(argv[1]) : 0, rounds = argc == 3 ? atoi(argv[2]) : 0;
  team_agree(&us, us.count == 2 && count > FIRST && rounds > 0, TEAM_BAD_INPUT,
             "use: two ranks, transport_dependence COUNT ROUNDS, with a COUNT of more than %d", FIRST);
  const int dim[] = {2, WORDS, -1}, div[] = {2, 1, -1};
  uint64_t* const sections = sms_mapalloc(dim, div, sizeof *sections, 0, 2);
  double* const starts = malloc((size_t)(count + 1) * sizeof *starts);
  double* const trips = malloc((size_t)rounds * (size_t)count * sizeof *trips);
  int wrong = starts == NULL || trips == NULL, number = 1;
  size_t found = 0;
  team_agree(&us, !wrong, TEAM_WRONG, "not enough memory for %d trips", count);
  sms_barrier();
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < 2 * (count + 1); i++, number++) {
      uint64_t* const mine = sections + (size_t)(i % 2) * WORDS;
      uint64_t* const others = sections + (size_t)(1 - i % 2) * WORDS;
      const turn t = {mine, others, i % 2 == 0 ? &starts[i / 2] : NULL, number, &wrong};
      const hiroba_access use[] = {hiroba_use(HIROBA_INOUT, mine, WORDS * sizeof *mine),
                                   hiroba_use(HIROBA_IN, others, WORDS * sizeof *others)};
      hiroba_task_copy(body, &t, sizeof t, use, 2);
    }
    hiroba_taskwait();
    for (int k = FIRST; k < count; k++) trips[found++] = starts[k + 1] - starts[k];
  }
  team_agree(&us, !wrong, TEAM_WRONG, "a task has begun before the section that it reads was there");
  if (us.rank == 0) {
    qsort(trips, found, sizeof *trips, ascending);
    printf("{\"dependence us\": %.4f, \"least us\": %.4f}\n", 1e6 * trips[found / 2] / 2, 1e6 * trips[0] / 2);
  }
  free(starts), free(trips);
  team_leave(&us);
  return 0;
}
