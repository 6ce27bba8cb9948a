/* Where the pages of arrays lie, by every call of placement.h, and that no byte changes on the way. Runs on any
 * machine: with one domain everything is on that; numa_domains.py runs it on a machine that is said to have two, where
 * each rank must have one of its own (--bind).  numa [--seed S] [--count N] */
#include <placement.h>
#include <pthread.h>
#include <unistd.h>

#include "programs.h"

enum { PAGES = 96, INTS = PAGE / 4, MOST = 2048 };

static int place_of[MOST];

static void expect(int got, int wanted, const char* what, int page) {
  if (got != wanted) fail("%s: page %d is on %d, not on %d", what, page, got, wanted);
}

/* One row a page, whole pages for each rank. */
static int* pages_of_all(int pages) { return spread(pages, INTS, sizeof(int)); }

static void look(const int* array, int pages) {
  const size_t n = hiroba_page_domains(array, place_of, MOST);
  if (n != (size_t)pages) fail("the array has %zu pages, not %d", n, pages);
}

static int is_here(const int* array, int page) {
  const int home = sms_home(array + (size_t)page * INTS);
  return home * sms_nnodes / sms_nprocs == sms_node;
}

/* All pages that have their home here: that of page i as wanted(i) says. */
static void check_places(const int* array, int pages, int (*wanted)(const int* array, int page), const char* what) {
  look(array, pages);
  for (int i = 0; i < pages; i++)
    expect(place_of[i], is_here(array, i) ? wanted(array, i) : HIROBA_PAGE_ELSEWHERE, what, i);
  sms_barrier();
}

static int of_owner(const int* array, int page) { return hiroba_numa_domain_of(sms_home(array + (size_t)page * INTS)); }
static int nowhere(const int* array, int page) { return (void)array, (void)page, HIROBA_PAGE_UNUSED; }
static int last_domain(const int* array, int page) { return (void)array, (void)page, hiroba_numa_domains() - 1; }
static int first_domain(const int* array, int page) { return (void)array, (void)page, 0; }

static void fill(int* array, int pages) {
  for (int i = 0; i < pages; i++) array[(size_t)i * INTS] = 1000 + i;
}
static void check_bytes(const int* array, int pages, const char* what) {
  for (int i = 0; i < pages; i++)
    if (array[(size_t)i * INTS] != 1000 + i) fail("%s: page %d has %d", what, i, array[(size_t)i * INTS]);
  sms_barrier();
}

/* Rank 0 of all touches everything first, and it lies on the owners' domains all the same. */
static void test_owner(void) {
  int* const array = pages_of_all(PAGES);
  check_places(array, PAGES, nowhere, "not used");
  if (sms_rank == 0) fill(array, PAGES);
  sms_barrier();
  if (sms_nnodes == 1) check_places(array, PAGES, of_owner, "by owner");
  check_bytes(array, PAGES, "by owner");
  hiroba_place_memory(array, hiroba_numa_domains() - 1);
  check_places(array, PAGES, last_domain, "on the last domain");
  check_bytes(array, PAGES, "on the last domain");
  const int64_t moved = hiroba_place_memory(array, HIROBA_ON_OWNER);
  int away = 0;
  for (int i = 0; i < PAGES && sms_nnodes == 1; i++) away += of_owner(array, i) != hiroba_numa_domains() - 1;
  if (sms_nnodes == 1 && moved != away) fail("%lld pages have moved to their owners, not %d", (long long)moved, away);
  check_places(array, PAGES, of_owner, "on the owner's again");
  check_bytes(array, PAGES, "on the owner's again");
  char* const text = hiroba_describe_pages(array);
  if (strstr(text, "A sign below is 1 page:") == NULL) fail("no picture: %s", text);
  if ((strstr(text, "one NUMA domain") != NULL) != (hiroba_numa_domains() == 1)) fail("no number of domains: %s", text);
  free(text);
  sms_free(array);
}

static void test_interleaved(void) {
  int* const array = pages_of_all(PAGES);
  hiroba_place_memory(array, HIROBA_INTERLEAVED);
  if (sms_rank == 0) fill(array, PAGES);
  sms_barrier();
  for (int turn = 0; turn < 2; turn++) {
    look(array, PAGES);
    int on[64] = {0}, here = 0;
    for (int i = 0; i < PAGES; i++)
      if (place_of[i] >= 0) on[place_of[i]]++, here++;
    for (int d = 0; d < hiroba_numa_domains(); d++)
      if (on[d] > here / hiroba_numa_domains() + 32) fail("turn %d: %d of %d pages on domain %d", turn, on[d], here, d);
    check_bytes(array, PAGES, "interleaved");
    hiroba_place_memory(array, 0);
    check_places(array, PAGES, first_domain, "on the first domain");
    hiroba_place_memory(array, HIROBA_INTERLEAVED); /* now of pages in use */
  }
  sms_free(array);
}

static void test_migrate(void) {
  int* const array = pages_of_all(PAGES);
  if (sms_rank == 0) fill(array, PAGES);
  sms_barrier();
  hiroba_place_memory(array, HIROBA_ON_OWNER);
  for (int to = 0; to < sms_nprocs; to++) {
    /* Every second page that has its home on that rank's node. */
    int first = 0, end = PAGES;
    while (sms_home(array + (size_t)first * INTS) * sms_nnodes / sms_nprocs != to * sms_nnodes / sms_nprocs) first++;
    while (sms_home(array + (size_t)(end - 1) * INTS) * sms_nnodes / sms_nprocs != to * sms_nnodes / sms_nprocs) end--;
    const sms_range section[] = {{first, (end - first + 1) / 2, 2}, {0, INTS, 1}};
    hiroba_migrate(array, section, to);
    look(array, PAGES);
    for (int i = first; i < end; i += 2)
      if (is_here(array, i)) expect(place_of[i], hiroba_numa_domain_of(to), "migrated", i);
    if (hiroba_migrate(array, section, to) != 0) fail("pages that are there have moved");
    check_bytes(array, PAGES, "migrated");
  }
  sms_free(array);
}

static int* shared;
static void* touch_all(void* unused) {
  (void)unused;
  for (int i = 0; i < PAGES; i++)
    if (shared[(size_t)i * INTS] != 1000 + i) fail("a thread: page %d has %d", i, shared[(size_t)i * INTS]);
  return NULL;
}

/* Page i goes to rank i % n of its node, which is the first to touch it; then everybody reads all of it, by two threads
 * and by a system call. */
static void test_next_touch(void) {
  shared = pages_of_all(PAGES);
  fill(shared, sms_rank == 0 ? PAGES : 0);
  sms_barrier();
  for (int turn = 0; turn < 3; turn++) {
    hiroba_next_touch(shared);
    for (int i = 0; i < PAGES; i++)
      if (is_here(shared, i) && (i + turn) % sms_nprocs == sms_rank) shared[(size_t)i * INTS] = 1000 + i;
    sms_barrier();
    look(shared, PAGES);
    for (int i = 0; i < PAGES; i++)
      if (is_here(shared, i) && sms_nnodes == 1)
        expect(place_of[i], hiroba_numa_domain_of((i + turn + 3 * sms_nprocs) % sms_nprocs), "next touch", i);
    sms_barrier();
    pthread_t thread;
    pthread_create(&thread, NULL, touch_all, NULL);
    touch_all(NULL);
    pthread_join(thread, NULL);
    check_bytes(shared, PAGES, "next touch");
  }
  hiroba_next_touch(shared);
  int ends[2];
  if (pipe(ends) != 0) fail("no pipe");
  for (int i = 0; i < PAGES; i++) {
    int got = 0;
    if (write(ends[1], shared + (size_t)i * INTS, sizeof got) != sizeof got) fail("write() of a closed page %d", i);
    if (read(ends[0], &got, sizeof got) != sizeof got || got != 1000 + i) fail("write() of page %d gave %d", i, got);
  }
  close(ends[0]), close(ends[1]);
  sms_barrier();
  sms_free(shared);
}

/* The last rank uses all pages of its node, more often than others. */
static void test_samples(void) {
  int* const array = pages_of_all(PAGES);
  fill(array, sms_rank == 0 ? PAGES : 0);
  sms_barrier();
  hiroba_sample_touches(array, 1);
  const int user = sms_nprocs - 1;
  for (int epoch = 0; epoch < 8; epoch++) {
    sms_barrier();
    if (sms_rank == user || epoch == 0) check_bytes(array, PAGES, "sampled");
    else sms_barrier();
  }
  const int64_t moved = hiroba_migrate_by_touches(array);
  hiroba_sample_touches(array, 0);
  if (hiroba_numa_domains() == 1 && moved != 0) fail("%lld pages have moved on one domain", (long long)moved);
  look(array, PAGES);
  for (int i = 0; i < PAGES; i++)
    if (is_here(array, i) && is_here(array, PAGES - 1)) expect(place_of[i], hiroba_numa_domain_of(user), "by use", i);
  check_bytes(array, PAGES, "by use");
  sms_free(array);
}

/* Random calls on arrays of which one is gathered into huge pages, between random writes, against a private copy. */
static void random_calls(uint64_t seed, int count) {
  static const int sizes[] = {5, 70, 1300};
  rng shared_choice = {mix(seed)};
  for (int s = 0; s < 3; s++) {
    const int pages = sizes[s];
    int* const array = pages_of_all(pages);
    int* const copy = calloc((size_t)pages, sizeof(int));
    for (int call = 0; call < count; call++) {
      const int writers = rng_int(&shared_choice, 4) + 1;
      for (int i = 0; i < pages; i++) {
        const uint64_t choice = rng_next(&shared_choice);
        if (choice % 4 != 0) continue;
        copy[i] = (int)(choice >> 40);
        if ((i / writers) % sms_nprocs == sms_rank) array[(size_t)i * INTS] = copy[i];
      }
      sms_barrier();
      const int to = rng_int(&shared_choice, sms_nprocs), on = rng_int(&shared_choice, 2);
      switch (rng_int(&shared_choice, 6)) {
        case 0: hiroba_next_touch(array); break;
        case 1: hiroba_place_memory(array, -1 - rng_int(&shared_choice, 3)); break;
        case 2: hiroba_place_memory(array, rng_int(&shared_choice, hiroba_numa_domains())); break;
        case 3: hiroba_sample_touches(array, on); break;
        case 4: hiroba_migrate_by_touches(array); break;
        default: {
          const sms_range own[] = {{(int64_t)to * pages / sms_nprocs, 1, 1}, {0, 1, 1}};
          if (sms_home(array + own[0].base * INTS) * sms_nnodes / sms_nprocs == to * sms_nnodes / sms_nprocs)
            hiroba_migrate(array, own, to);
        }
      }
      for (int i = rng_int(&shared_choice, 3); i < pages; i += 3)
        if (array[(size_t)i * INTS] != copy[i])
          fail("seed %llu, call %d: page %d has %d, not %d", (unsigned long long)seed, call, i, array[(size_t)i * INTS],
               copy[i]);
      sms_barrier();
    }
    free(copy);
    sms_free(array);
  }
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const uint64_t seed = (uint64_t)option_number(argc, argv, "--seed", 1);
  if (getenv("HIROBA_CHECK") == NULL) {
    test_owner();
    test_interleaved();
    test_migrate();
    test_next_touch();
    test_samples();
  }
  random_calls(seed, (int)option_number(argc, argv, "--count", 30));
  if (sms_rank == 0) printf("done: %d domains, seed %llu\n", hiroba_numa_domains(), (unsigned long long)seed);
  sms_shutdown();
  return 0;
}
