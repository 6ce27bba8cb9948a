/* What the cases of xmp_images share: their coarrays, and expectations. A case is called by all images, between
 * synchronisations, with zeros in the coarrays.
 */
#ifndef HIROBA_TESTS_XMP_IMAGES_H
#define HIROBA_TESTS_XMP_IMAGES_H

#include <pthread.h>
#include <xmp.h>

#include "programs.h"

#define PLACE __FILE__ ":" SMS_TEXT(__LINE__)
#define EXPECT(value_, wanted_)                                                                                    \
  do {                                                                                                             \
    const double it_is = (double)(value_), wanted = (double)(wanted_);                                             \
    if (it_is != wanted) fail("%s: %s is %.17g, not %.17g, on image %d", PLACE, #value_, it_is, wanted, sms_rank); \
  } while (0)

enum { N = 1000, THREADS = 3 };
extern int n, me;          /* images, and this one */
extern xmp_coarray* ints;  /* N of them */
extern xmp_coarray* reals; /* N of them */
extern int* i_own;         /* this image's */
extern double* r_own;

static inline xmp_section row(xmp_coarray* c, int image, void* address, int64_t count, int64_t stride) {
  return (xmp_section){c, image, address, 1, {count}, {stride}};
}

/* Runs it in THREADS threads and waits for them. */
void in_threads(void* (*run)(void*), void* argument);

/* xmp_sums.c */
void accumulates(void);
void large_accumulates(void);
void types(void);
void reductions(void);
void broadcasts(void);
void gmoves(void);

/* xmp_async.c */
void async_reductions(void);
void async_broadcasts(void);
void async_passing_on(void);
void async_many(void);
void async_of_some(void);
void async_gmoves(void);
void async_before_task(void);
void async_and_threads(void);
void async_in_and_out(void);

/* xmp_teams.c */
void teams_of_lines(void);
void teams_of_grids(void);
void teams_in_tasks(void);

#endif
