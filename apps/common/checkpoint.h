/* checkpoint.h: the state of an application in a file, from which a later run goes on with the same bits, on any number
 * of ranks.
 *
 * The file is a header and the fields. The header says which program, format and settings wrote it, the size, the step,
 * and a checksum; a file that does not fit is refused with a message that says what differs. Collective. */
#ifndef APPS_COMMON_CHECKPOINT_H
#define APPS_COMMON_CHECKPOINT_H

#include "files.h"

enum { CHECKPOINT_SETTINGS = 1024 };

typedef struct checkpoint {
  char magic[8];
  char program[24]; /* the application, not the variant of it */
  int64_t version;  /* of the application's fields */
  int64_t size[3];
  int64_t step;
  int64_t bytes; /* of the fields */
  uint64_t checksum;
  char settings[CHECKPOINT_SETTINGS]; /* all options that the answer depends on, as text */
} checkpoint;

/* Rows of a table of options (options.h), for a struct `type` with members `checkpoint`, `every` and `restart`. */
#define RESTART_OPTION(type)                                                                                    \
  {"--restart", "FILE", "go on from a checkpoint, on any number of ranks, in any of the programs", OPTION_TEXT, \
   offsetof(type, restart)}
#define CHECKPOINT_OPTIONS(type)                                                                                      \
  {"--checkpoint", "FILE", "write the state, so that a later run can go on from it", OPTION_TEXT,                     \
   offsetof(type, checkpoint)},                                                                                       \
      {"--every", "K", "with --checkpoint or --volume: after every K steps (default: after the last)", OPTION_NUMBER, \
       offsetof(type, every)},                                                                                        \
      RESTART_OPTION(type)

/* Writes it; magic, bytes and checksum are filled in. */
void checkpoint_save(const team* team, const char* path, checkpoint* header, const slab slabs[], int count);

/* Reads the header and compares program and version with `mine`. */
void checkpoint_open(const team* team, const char* path, const checkpoint* mine, checkpoint* found);

/* Refuses a file whose fields are not as many elements of `bytes` bytes as the extents' product: a program takes memory
 * by the size in the header before it reads the fields. */
void checkpoint_expect(const team* team, const char* path, const checkpoint* found, const int64_t extents[3],
                       int64_t bytes);

/* Compares size and settings, reads the fields, checks the checksum. */
void checkpoint_load(const team* team, const char* path, const checkpoint* mine, const checkpoint* found,
                     const slab slabs[], int count);

#endif
