/* sort.h: 64-bit keys in order. What all variants share: the options, the keys, the check, the report. radix.h has the
 * sort.
 *
 * A run sorts the same input --steps times; the input stays as it is. Key i of the input depends on its number and
 * --seed only, so every rank makes its own. A variant says where its input and its part of the output are.
 *
 * Collective: all functions but sort_fill. For C and C++. */
#ifndef SORT_SORT_H
#define SORT_SORT_H

#include "../common/tiled.h"
#include "radix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sort {
  tiled run;
  const char* kind; /* --keys */
  int seed;
  int64_t first, input_count; /* of the input: what this rank has, at `input` */
  const uint64_t* input;
  int64_t output_count; /* of the output: what this rank has, after that of the ranks before */
  const uint64_t* output;
} sort;

/* Reads the command line. */
void sort_begin(sort* s, team team, int threads, int argc, char** argv);

/* Private memory for `keys` keys; ends the program if there is none. */
uint64_t* sort_memory(const sort* s, int64_t keys);

/* Keys first, first + 1, ... of the input. */
void sort_fill(const sort* s, uint64_t* to, int64_t first, int64_t count);

/* Sorts `of` (the variant, which begins with a sort) --steps times, checks, reports, and leaves the team. Returns the
 * exit status. */
int sort_run(sort* s, tiled_steps steps);

#ifdef __cplusplus
}
#endif

#endif
