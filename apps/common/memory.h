/* memory.h: private memory of an application for its fields, and whether all of them fit into the machine. */
#ifndef APPS_COMMON_MEMORY_H
#define APPS_COMMON_MEMORY_H

#include <stddef.h>

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the program, for all ranks, unless the ranks of each machine together need no more than it has. Collective. */
void memory_check(const team* team, double bytes_of_rank, const char* what);

/* Memory in huge pages, as shared arrays are: where the machine has them, small ones take a third longer. Untouched, so
 * that the threads that fill it place it; for free(). NULL if there is none. */
void* memory_pages(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
