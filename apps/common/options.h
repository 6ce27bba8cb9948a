/* options.h: the command line of an application, as a table from which it is read and from which --help is printed.
 *
 * Values are stored in a struct of the application, at the offsets that the table names; strings belong to argv.
 * Collective. A word that is wrong ends the program with one message that says what is allowed. */
#ifndef APPS_COMMON_OPTIONS_H
#define APPS_COMMON_OPTIONS_H

#include <stddef.h>

#include "team.h"

enum { OPTION_LIST = 8 }; /* the most values of an OPTION_TEXTS */

typedef enum {
  OPTION_SIZE,    /* int[3]: "N" or "NX,NY,NZ" */
  OPTION_NUMBER,  /* int, at least 1 */
  OPTION_COUNT,   /* int, at least 0 */
  OPTION_REAL,    /* double, finite */
  OPTION_TEXT,    /* const char* */
  OPTION_TEXTS,   /* const char*[OPTION_LIST]: may be given again; those not given are NULL */
  OPTION_FLAG,    /* bool: becomes true */
  OPTION_NO_FLAG, /* bool: becomes false */
} option_kind;

typedef struct option {
  const char *name, *value, *help;
  option_kind kind;
  size_t offset;
} option;

/* The largest number that an option takes: extents get a few points of boundary, and stay ints. */
int options_limit(void);

void options_read(const team* team, const option options[], int count, void* into, int argc, char** argv);

/* One line per option. */
void options_print(const option options[], int count);

#endif
