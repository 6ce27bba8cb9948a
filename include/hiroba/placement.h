/* placement.h: the NUMA domains of the home pages of shared arrays. docs/numa.md teaches it.
 *
 * A home is a rank (sms.h), and does not change here. On machines with several NUMA domains the memory of home pages is
 * on one of the domains of the home's machine: by default (hirobarun --memory) on that of the rank that owns them,
 * whichever rank accesses them first. Calls of this file change that, for pages in use and for later ones, and report
 * the domains of pages. Huge pages stay huge, and move as a whole. If a domain is full, pages stay, or come from
 * another. On a machine with one domain all calls work, and nothing moves.
 *
 * Collective: every rank makes the call, in the same order with the same arguments, by one thread, while no other
 * thread of that rank accesses shared memory; all of them block. Calls that return a number of pages return the same on
 * all ranks: how many have moved, on all nodes. Errors: misuse ends the job with one message. */
#ifndef HIROBA_PLACEMENT_H
#define HIROBA_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "sms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The placement of the pages of an array; or the number of a domain. */
enum {
  HIROBA_ON_OWNER = -1,      /* on the domain of the rank that owns them; if its CPUs are on several: as first touch */
  HIROBA_INTERLEAVED = -2,   /* on all domains in turn */
  HIROBA_ON_FIRST_TOUCH = -3 /* on the domain of the thread that touches them first */
};

/* Collective. `where`: one of these, or a domain that each machine of the job has. Pages in use move, except with
 * HIROBA_ON_FIRST_TOUCH. Cheapest before the array is used. */
int64_t hiroba_place_memory(void* array, int where);

/* Collective. The pages of a section, one sms_range per dimension, move to the domain of `rank`, a rank of their node
 * whose CPUs are on one domain (hirobarun --bind numa, core). */
int64_t hiroba_migrate(void* array, const sms_range section[], int rank);

/* Collective. From now on the first thread of its node that touches a page gets it to the domain that it runs on.
 * Pages of large arrays move together by 2 MiB where option huge makes huge pages, and by more in arrays of more
 * than 16 GiB. A touch costs a page fault. With option check this does nothing. */
void hiroba_next_touch(void* array);

/* Collective. While `on` is not 0, the ranks count the touches of pages by domain: at each barrier up to 64 pages
 * (units, as with next touch) of the array are watched, in turn, until they are touched; each costs a page fault. Do
 * not use it together with hiroba_next_touch on the same array before all of it has been touched. */
void hiroba_sample_touches(void* array, int on);

/* Collective. Pages that another domain touched more often, in samples, than their own move there. Counting
 * restarts. */
int64_t hiroba_migrate_by_touches(void* array);

/* Not collective. Sets for each of the first `room` pages (4 KiB) of the array the domain of the page, or one of
 * these. Returns the number of pages of the array. */
enum { HIROBA_PAGE_UNUSED = -1, HIROBA_PAGE_ELSEWHERE = -2 /* at home on another node */ };
size_t hiroba_page_domains(const void* array, int domain[], size_t room);

/* Not collective. The same as text, a table and a picture; for free(). */
char* hiroba_describe_pages(const void* array);

/* The number of domains of this machine; the domain of a rank of this node, -1 if its CPUs are on several. */
int hiroba_numa_domains(void);
int hiroba_numa_domain_of(int rank);

#ifdef __cplusplus
}
#endif
#endif
