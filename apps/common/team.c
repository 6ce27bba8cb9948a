#include "team.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

double team_max(const team* team, double mine) { return team->max != NULL ? team->max(mine) : mine; }

double team_sum(const team* team, double mine) { return team->sum != NULL ? team->sum(mine) : mine; }

uint64_t team_sum_bits(const team* team, uint64_t mine) {
  uint64_t sum = 0;
  for (int digit = 0; digit < 64; digit += 16) /* sums of 16 bits are exact in a double */
    sum += (uint64_t)team_sum(team, (double)(mine >> digit & 0xffff)) << digit;
  return sum;
}

void team_leave(const team* team) {
  fflush(stdout);
  if (team->leave != NULL) team->leave();
}

void team_agree(const team* team, bool good, int status, const char* pattern, ...) {
  const double worst = team_max(team, good ? 0 : team->count - team->rank);
  if (worst == 0) return;
  if (worst == team->count - team->rank) {
    va_list arguments;
    va_start(arguments, pattern);
    fprintf(stderr, "%s: ", team->program);
    vfprintf(stderr, pattern, arguments);
    fputc('\n', stderr);
    va_end(arguments);
  }
  team_leave(team);
  exit(status);
}

double team_now(void) { return now(); }
