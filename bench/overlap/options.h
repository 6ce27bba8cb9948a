/* options.h: the command line of the overlap benchmark. Every rank reads the same words, so all agree on what they say.
 */
#ifndef OVERLAP_OPTIONS_H
#define OVERLAP_OPTIONS_H

#include "common.h"

enum { most_points = 256 };
enum schedule { STATIC, DYNAMIC, SCHEDULES };

extern const char* const collective_names[COLLECTIVES];
extern const char* const schedule_names[SCHEDULES];

typedef struct point {
  enum collective kind;
  int m, n; /* doubles for each destination; size of the matrices */
} point;

typedef struct options {
  point points[most_points];
  int count;
  int schedules[SCHEDULES]; /* whether each is wanted */
  int repetitions, warm_up, test_calls;
  int additions; /* of vectors, in the place of matrices; 0: none */
  int spare, bound, region;
  const char* matrices; /* the file to write, or NULL */
} options;

/* Fills in what the command line says and prints what is wrong with it, or the help, at rank 0. Returns 0 to go on, -1
 * to end well, or the exit status. */
int read_options(int argc, char** argv, const library* of, options* o);

#endif
