/* team.h: the processes that run an application together, whatever they communicate by: what they agree on, and how
 * the program ends for all of them with one message.
 *
 * Collective, called by all ranks (one thread of each), blocking: all functions here but team_now. A single process
 * leaves the functions of its team NULL. */
#ifndef APPS_COMMON_TEAM_H
#define APPS_COMMON_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TEAM_WRONG = 1, TEAM_BAD_INPUT = 2 }; /* exit statuses */

static inline int smaller(int a, int b) { return a < b ? a : b; }
static inline int larger(int a, int b) { return a > b ? a : b; }

typedef struct team {
  int rank, count;
  double (*max)(double mine); /* of the ranks' values, the same in every rank; so a barrier, too */
  double (*sum)(double mine);
  void (*leave)(void); /* ends the team: MPI_Finalize, sms_shutdown */
  const char* program; /* as messages name it */
} team;

double team_max(const team* team, double mine);
double team_sum(const team* team, double mine);

/* The sum modulo 2^64, in which the order does not matter. */
uint64_t team_sum_bits(const team* team, uint64_t mine);

/* Ends the program for every rank if any of them has a complaint; the lowest such rank prints it. */
__attribute__((format(printf, 4, 5))) void team_agree(const team* team, bool good, int status, const char* pattern,
                                                      ...);

/* Flushes what was printed and leaves the team. */
void team_leave(const team* team);

/* Seconds of a clock that never goes back. */
double team_now(void);

#ifdef __cplusplus
}
#endif

#endif
