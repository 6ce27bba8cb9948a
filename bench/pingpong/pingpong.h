/* pingpong.h: what the contestants have in common, in C and (through caf.f90's interfaces) in Fortran: the cases, the
 * clock, the pattern of the payload, the JSON.
 *
 *   CONTESTANT CASE BYTES ROUNDS [CASE BYTES ROUNDS ...]        with two ranks
 *
 * Rank 0 moves BYTES to or from rank 1, which holds memory and waits. A figure is the median over the rounds of the
 * time of one operation, which is complete at the target when the clock stops. Then every byte is compared: what has
 * arrived, and what must not have been touched between and behind it. A difference ends the contestant.
 *
 *   put, get       BYTES in one piece
 *   put2, get2     every second double of 2 BYTES, here as there
 *   accumulate     BYTES of doubles are added to those at the target
 *   pingpong       BYTES there and back: half of the time of both. How a rank knows that they have come is the
 *                  notation's own: a post behind the put, a message
 *   word           the same with 8 BYTES that both ranks poll for, as in the paper. Only so few can be polled for: of
 *                  more, the last need not be the last to come
 *
 * A contestant that has `copy` is timed with it beside each put, in turns the first: BYTES from `local` to this rank's
 * own `shared`, which is what the processor can do. Apart from each other they could not be compared: how fast large
 * pieces are copied grows threefold over the first rounds, as a large cache learns to keep them.
 *
 * Memory belongs to the contestant: three areas of PP_WORDS doubles, `local` and `other` of its own and `shared`, which
 * the other rank can reach. One thread. Only barriers and operations of the contestant block.
 */
#ifndef PINGPONG_H
#define PINGPONG_H

#include <stddef.h>

#include "../../apps/common/clock.h"

enum { PP_MOST = 16 << 20, PP_WORDS = 2 * PP_MOST / 8 + 8, PP_ROUNDS = 1024 };

typedef enum pp_kind {
  PP_PUT,
  PP_GET,
  PP_PUT2,
  PP_GET2,
  PP_ACCUMULATE,
  PP_PINGPONG,
  PP_WORD,
  PP_COPY,
  PP_KINDS
} pp_kind;

typedef struct pp_case {
  int kind;
  int rounds, inner; /* operations between two looks at the clock: many, where one is short */
  size_t bytes, words;
  double turn; /* how many operations there have been, this one included */
} pp_case;

typedef struct pp_contestant {
  const char* name;
  int rank;
  double *local, *shared; /* PP_WORD leaves c->turn in the first word of `shared` */
  void (*barrier)(void);
  void (*operation[PP_KINDS])(
      const pp_case* c); /* one; PP_PINGPONG and PP_WORD by both ranks, else by rank 0; NULL: lacks */
} pp_contestant;

/* Runs the cases of the command line and prints {"put 8": SECONDS, ...}. Returns the exit status. */
int pp_main(const pp_contestant* who, int argc, char** argv);

/* The parts of pp_main, for contestants in other languages. pp_fill prepares both areas, in both ranks; pp_check
 * returns the number of words that are wrong in this rank after `times` operations, and says so. */
int pp_read(const char* name, const char* bytes, const char* rounds, pp_case* c); /* 0, or a message and 2 */
void pp_fill(const pp_case* c, double* local, double* shared);
int pp_check(const pp_case* c, int rank, const double* local, const double* shared, const char* who);
void pp_report(const pp_case* c, double* seconds, int last); /* of rounds + 1, the first not counted */

#endif
