/* How a job may end: a random set of things that are fresh, or still on their way, when the program ends. None of them
 * may keep a rank from its end, or ask something of a rank that has gone.
 *
 *   left_behind [--seed S]
 *
 * The seed decides what is left behind, and by which way the program ends; all ranks know it. */
#include <hiroba/collective.h>
#include <hiroba/task.h>
#include <pthread.h>
#include <xmp.h>

#include "programs.h"

enum { OBJECTS = 600, THREADS = 3, WORDS = 8 * PAGE / 8, PUTS = 2000 };

static int next_rank, last_rank, opposite;
static void* volatile* objects;
static int64_t* words; /* a few pages of each rank */
static int64_t* flags;

static int64_t* words_of(int rank) { return words + (size_t)rank * WORDS; }

/* ---- the heap ---------------------------------------------------------------------------------------------------- */

/* Each thread frees what the rank before has allocated, at home on a third rank. */
static void* free_some(void* first) {
  for (intptr_t i = (intptr_t)first; i < OBJECTS; i += THREADS) sms_mfree(objects[last_rank * OBJECTS + i]);
  for (int i = 0; i < 50; ++i) sms_mfree(sms_malloc(40)); /* and keeps some */
  return NULL;
}

static void frees_of_others(void) {
  for (int i = 0; i < OBJECTS; ++i) {
    int* const object = sms_malloc_on(16 + i % 90, opposite);
    object[0] = i;
    objects[sms_rank * OBJECTS + i] = object;
  }
  sms_barrier();
  pthread_t threads[THREADS];
  for (intptr_t t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, free_some, (void*)t);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static void unpublished_writes(void) {
  for (int i = sms_rank; i < WORDS; i += sms_nprocs) words_of(next_rank)[i] = i;
}

static void preloads_under_way(void) { sms_preload_start(words, (sms_range[]){{next_rank, 1, 1}, {0, WORDS, 1}}); }

/* Fetched ahead of what the program is expected to preload after the drop. */
static void pages_fetched_ahead(void) {
  for (int step = 0; step < 4; ++step) {
    words_of(sms_rank)[step] = step;
    sms_sync_drop();
    sms_preload(words, (sms_range[]){{next_rank, 1, 1}, {0, WORDS, 1}});
  }
  sms_sync_drop();
}

static void homes_that_move(void) {
  sms_set_homes(words, SMS_HOMES_MIGRATING);
  for (int step = 0; step < 4; ++step) {
    words_of(next_rank)[step] += 1;
    sms_barrier();
  }
}

/* ---- locks, flags ------------------------------------------------------------------------------------------------ */

static void locks_just_given_back(void) {
  for (int i = 0; i < 10; ++i) {
    sms_lock(1);
    words_of(0)[i] += 1;
    sms_signal(1);
    sms_unlock(1);
    sms_lock_shared(2);
    sms_unlock_shared(2);
  }
}

static void atomics(void) {
  for (int i = 0; i < 10; ++i) sms_fetch_add(&flags[next_rank], 1);
  sms_sync();
}

/* ---- collective operations, tasks -------------------------------------------------------------------------------- */

static void requests(void) {
  static double from[5000], to[5000], kept_from, kept_to;
  hiroba_request request, kept;
  hiroba_iallreduce(from, to, 5000, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL, &request);
  hiroba_allreduce_init(&kept_from, &kept_to, 1, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL, &kept);
  hiroba_start(&kept);
  hiroba_wait(&kept); /* and is not freed */
  hiroba_wait(&request);
}

static void group_barriers(void) {
  if (sms_nprocs == 1) return;
  const int other[] = {next_rank, last_rank};
  xmp_sync_images(next_rank == last_rank ? 1 : 2, other, NULL);
}

static void add_one(void* word) { *(int64_t*)word += 1; }

static void tasks_not_waited_for(void) {
  for (int i = 0; i < 40; ++i) {
    int64_t* const word = &words_of(i % sms_nprocs)[i];
    const hiroba_access access = hiroba_use(HIROBA_INOUT, word, sizeof *word);
    hiroba_task_on((i + 1) % sms_nprocs, add_one, word, &access, 1);
  }
}

/* ---- coarrays ---------------------------------------------------------------------------------------------------- */

static xmp_coarray* coarray;

static void puts_without_synchronisation(void) {
  int* const part = coarray->data;
  for (int i = 0; i < PUTS; ++i) xmp_put(coarray, next_rank, &part[i], &i, sizeof i, "left_behind.c");
}

static void posts_without_wait(void) {
  for (int i = 0; i < 20; ++i) xmp_post(next_rank, i, "left_behind.c");
}

static const struct {
  void (*leave)(void);
  const char* name;
} things[] = {{frees_of_others, "frees"},
              {unpublished_writes, "writes"},
              {preloads_under_way, "preloads"},
              {pages_fetched_ahead, "pages fetched ahead"},
              {homes_that_move, "moving homes"},
              {locks_just_given_back, "locks"},
              {atomics, "atomics"},
              {requests, "requests"},
              {group_barriers, "group barriers"},
              {puts_without_synchronisation, "puts"},
              {posts_without_wait, "posts"},
              {tasks_not_waited_for, "tasks"}}; /* the last: its data may not be used otherwise */

static int main_thread_ends(int way) {
  switch (way) {
    case 0: return sms_shutdown();
    case 1: xmp_finalize(); return 0;
    case 2: exit(0);
    default: return 0; /* xmp_start has arranged for the end */
  }
}

int main(int argc, char** argv) {
  xmp_start(&argc, &argv);
  rng dice = {(uint64_t)option_number(argc, argv, "--seed", time(NULL))};
  const uint64_t seed = dice.state;
  next_rank = (sms_rank + 1) % sms_nprocs, last_rank = (sms_rank + sms_nprocs - 1) % sms_nprocs;
  opposite = (sms_rank + sms_nprocs / 2 + 1) % sms_nprocs;
  words = spread(sms_nprocs, WORDS, sizeof *words);
  flags = spread(sms_nprocs, PAGE / 8, sizeof *flags);
  objects = sms_alloc(sizeof *objects, (size_t)sms_nprocs * OBJECTS, 0);
  coarray = xmp_coarray_malloc(sizeof(int), 1, (int64_t[]){PUTS}, "a", "left_behind.c");
  char text[300];
  int used = snprintf(text, sizeof text, "left_behind: seed %llu:", (unsigned long long)seed), chosen[16], count = 0;
  const int all = (int)(sizeof things / sizeof things[0]);
  for (int i = 0; i < all; ++i)
    if (rng_once_in(&dice, 2)) chosen[count++] = i;
  for (int i = count - 1; i > 0; --i) { /* in any order, but for tasks */
    const int other = rng_int(&dice, i + 1), kept = chosen[i];
    if (kept != all - 1) chosen[i] = chosen[other], chosen[other] = kept;
  }
  for (int i = 0; i < count; ++i)
    used += snprintf(text + used, sizeof text - (size_t)used, " %s;", things[chosen[i]].name);
  const int way = rng_int(&dice, 4);
  snprintf(text + used, sizeof text - (size_t)used, " way %d", way);
  if (sms_rank == 0) puts(text), fflush(stdout);
  for (int i = 0; i < count; ++i) things[chosen[i]].leave();
  if (rng_once_in(&dice, 2) && sms_rank == rng_int(&dice, sms_nprocs)) { /* comes late */
    const struct timespec nap = {0, 20000000};
    nanosleep(&nap, NULL);
  }
  return main_thread_ends(way);
}
