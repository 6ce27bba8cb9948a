/* tiles.h: the tile size of an application that computes by tiles: the value of its option --tile, and the best of some
 * candidates, found by short trials and remembered for this machine.
 *
 * What was found is kept as one line of the text file hiroba/tiles below $XDG_CACHE_HOME, or below ~/.cache, so that
 * later runs need no trials; remove the file to have them again. Without such a folder nothing is remembered. Rank 0
 * alone reads and writes the file. Collective: all functions. For C and C++. */
#ifndef APPS_COMMON_TILES_H
#define APPS_COMMON_TILES_H

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile {
  int rows, columns; /* equal where a tile has one extent */
} tile;

/* Reads "N" or, with two dimensions, "ROWS,COLUMNS"; "auto" gives {0, 0}. Ends the program with a message if `text` is
 * anything else. */
tile tiles_option(const team* team, const char* text, int dimensions);

typedef struct tiles {
  const char* what; /* the program, and all options other than the size that the best tile depends on */
  int size, threads;
  const tile* candidates;
  int count;
  double (*trial)(void* of,
                  struct tile tile); /* runs some steps with this tile, in all ranks; the seconds of this rank */
  void* of;
} tiles;

typedef struct tile_choice {
  struct tile tile;
  bool remembered; /* by an earlier run; there was no trial */
} tile_choice;

/* The candidate with which the slowest rank is the fastest. What is remembered for the same program, machine, ranks,
 * threads and size counts only if it is one of the candidates. */
tile_choice tiles_best(const team* team, const tiles* tiles);

#ifdef __cplusplus
}
#endif

#endif
