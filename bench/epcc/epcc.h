/* epcc.h: what the constructs of EPCC's OpenMP microbenchmarks (C, version 3.1) have in common: names, units, defaults
 * and statistics are EPCC's; the code is ours.
 *
 * A contestant is a set of files that fill in tables of constructs, and a main that calls epcc(). A construct is a
 * function that executes it `repetitions` times, each time with a body of `delay`; its overhead is what one takes
 * longer than its reference. A construct that shares its bodies among threads has as many bodies for each thread. One
 * thread calls these functions, and they return when all their threads have finished. */
#ifndef EPCC_H
#define EPCC_H

#include <stdint.h>

#include "../spin.h"

typedef struct trial {
  int threads;
  int repetitions;
  int64_t delay;  /* of a body, in rounds of spin() */
  int chunk;      /* of a loop's schedule */
  int iterations; /* of a loop, for each thread */
} trial;

typedef enum { NO_CHUNKS, UP_TO_ITERATIONS, UP_TO_SHARE } chunks; /* 1, 2, 4 ...; a share: iterations / threads */

typedef struct construct {
  const char* name; /* EPCC's; with a chunk, it follows */
  void (*run)(const trial* t);
  void (*reference)(const trial* t);
  chunks chunks;
} construct;

/* A table ends with a NULL name. */
typedef struct group {
  const char* name; /* sync, schedule or task */
  double delay;     /* of a body, in us */
  int first;        /* repetitions at first; they double until they take long enough */
  const construct* table;
} group;

/* The whole benchmark; returns the exit status. `threads_are` makes the runtime have that many. */
int epcc(int argc, char** argv, const group groups[], int count, void (*threads_are)(int threads));

extern const construct sync_constructs[], schedule_constructs[], task_constructs[];

/* The reference of most constructs: the bodies alone. */
void reference_delay(const trial* t);

#endif
