/* Compares the pages that are fetched and tracked, by the counters, with those that must be: no copy is dropped for
 * what was written before it was made, and a page that nobody has a copy of is not tracked.
 *
 *   traffic [case]: all cases without it */
#include "programs.h"

enum { PAGES_EACH = 96, INTS = PAGE / (int)sizeof(int), EPOCHS = 5 };

static int* data;  /* PAGES_EACH pages at home on each rank */
static int* nodes; /* of the ranks; at home on rank 0 */

static int pages(void) { return PAGES_EACH * sms_nprocs; }
static int is_mine(int page) { return page / PAGES_EACH == sms_rank; }
static int is_here(int page) { return nodes[page / PAGES_EACH] == sms_node; }

static int pages_elsewhere(void) {
  int n = 0;
  for (int p = 0; p < pages(); ++p) n += !is_here(p);
  return n;
}

static int64_t fetched(void) {
  sms_statistics s;
  sms_stats(data, &s);
  return (int64_t)s.pages_fetched;
}

static int64_t home_faults(void) {
  sms_statistics s;
  sms_stats(data, &s);
  return (int64_t)s.home_faults;
}

static void write_home(int step, int stride) {
  for (int p = 0; p < pages(); ++p)
    if (is_mine(p) && p % stride == 0) data[p * INTS + p % INTS] = step * 1000 + p;
}

static void expect_value(int page, int at, int value) {
  if (data[page * INTS + at] != value) fail("page %d has %d at %d, not %d", page, data[page * INTS + at], at, value);
}

static void read_all(int step, int stride) {
  for (int p = 0; p < pages(); ++p) expect_value(p, p % INTS, (p % stride == 0 ? step : 0) * 1000 + p);
}

/* Homes write, then all read again and again. */
static int64_t read_often(void (*between)(void)) {
  write_home(0, 1);
  sms_barrier();
  for (int epoch = 0; epoch < EPOCHS; ++epoch) {
    read_all(0, 1);
    between();
  }
  return pages_elsewhere();
}

static void lock_and_unlock(void) {
  sms_lock(3);
  sms_unlock(3);
}

static int64_t read_with_barriers(void) { return read_often(sms_barrier); }
static int64_t read_with_locks(void) { return read_often(lock_and_unlock); }
static int64_t read_with_sync(void) { return read_often(sms_sync); }

static int64_t rewrite(int stride) {
  write_home(0, 1);
  sms_barrier();
  read_all(0, 1);
  sms_barrier();
  int64_t must = pages_elsewhere();
  for (int step = 1; step <= EPOCHS; ++step) {
    write_home(step, stride);
    sms_barrier();
    read_all(step, stride);
    sms_barrier();
    for (int p = 0; p < pages(); ++p) must += !is_here(p) && p % stride == 0;
  }
  return must;
}

static int64_t rewrite_all(void) { return rewrite(1); }
static int64_t rewrite_some(void) { return rewrite(16); }

/* Homes rewrite all, with a lock before each barrier, and after it. */
static int64_t locks_and_barriers(void) {
  int64_t must = 0;
  for (int step = 0; step < EPOCHS; ++step) {
    write_home(step, 1);
    lock_and_unlock();
    sms_barrier();
    lock_and_unlock();
    read_all(step, 1);
    lock_and_unlock();
    sms_barrier();
    must += pages_elsewhere();
  }
  return must;
}

/* Homes write once; under locks, ranks change a page of their own that nobody reads. */
static int64_t locks_beside(void) {
  write_home(0, 1);
  sms_barrier();
  for (int step = 0; step < EPOCHS; ++step) {
    read_all(0, 1);
    sms_lock(3);
    data[sms_rank * PAGES_EACH * INTS + INTS - 1] = step;
    sms_unlock(3);
    if (step % 2 == 1) sms_barrier();
  }
  sms_barrier();
  return pages_elsewhere() + EPOCHS * (int64_t)sms_nprocs;
}

/* Each page is written by all ranks, and then read by all. */
static int64_t false_sharing(void) {
  for (int step = 0; step < EPOCHS; ++step) {
    for (int p = 0; p < pages(); ++p) data[p * INTS + sms_rank] = step + p;
    sms_barrier();
    for (int p = 0; p < pages(); ++p)
      for (int r = 0; r < sms_nprocs; ++r) expect_value(p, r, step + p);
    sms_barrier();
  }
  return (1 + EPOCHS) * (int64_t)pages_elsewhere();
}

/* What goes from rank to rank by a lock. sms_reduce only orders the turns. */
static int64_t migratory(void) {
  for (int turn = 0; turn < 20 * sms_nprocs; ++turn) {
    sms_reduce_int64(0, SMS_SUM);
    if (turn % sms_nprocs != sms_rank) continue;
    sms_lock(0);
    expect_value(0, 7, turn);
    data[7] = turn + 1;
    sms_unlock(0);
  }
  sms_barrier();
  return is_here(0) ? 0 : 20;
}

/* Rank 0 writes all, then each rank its own again and again, and reads a page of the next one: a fault for each page
 * that rank 0 had written, and at most two in each step. */
static int64_t tracking_ends(void) {
  if (sms_rank == 0)
    for (int p = 0; p < pages(); ++p) data[p * INTS] = p;
  sms_barrier();
  const int64_t before = home_faults(), next = (sms_rank + 1) % sms_nprocs;
  volatile int seen = 0;
  for (int step = 0; step < 4 * EPOCHS; ++step) {
    write_home(step, 1);
    sms_barrier();
    seen += data[next * PAGES_EACH * INTS];
    sms_barrier();
  }
  const int64_t faults = home_faults() - before, most = PAGES_EACH + 8 * EPOCHS;
  if (faults > most)
    fail("tracking_ends: %ld faults of writes to pages of this node, at most %ld are due", (long)faults, (long)most);
  return fetched();
}

/* Rank 0 reads all now and then; in between each rank reads a page of the next one. What is not used any more is
 * fetched at most once more. */
static int64_t uses_end(void) {
  const int next = (sms_rank + 1) % sms_nprocs * PAGES_EACH;
  int64_t must = 0;
  for (int step = 0; step < 8 * EPOCHS; ++step) {
    write_home(step, 1);
    sms_barrier();
    const int reads_all = step % (4 * EPOCHS) == 0 && sms_rank == 0;
    if (reads_all) read_all(step, 1);
    else expect_value(next, next % INTS, step * 1000 + next);
    if (reads_all) must += 2 * pages_elsewhere();
    must += reads_all || is_here(next) ? 0 : 1;
    sms_barrier();
  }
  return must;
}

/* Rank 0 fills an array of zeros. No page is fetched but the first two of each home, and those after a barrier. */
static int64_t fill_zeros(void) {
  if (sms_rank == 0)
    for (int p = 0; p < pages(); ++p) data[p * INTS + 1] = p;
  sms_barrier();
  for (int p = 0; p < pages(); ++p)
    if (is_here(p)) expect_value(p, 1, p);
  sms_barrier();
  int must = 0;
  for (int r = 0; r < sms_nprocs; ++r) must += nodes[r] != sms_node;
  return sms_rank == 0 ? 2 * must : 0;
}

/* Rank 0 reads 2 MiB of the last rank in no order: at most half of the pages fault, and the rest comes at once. */
static int64_t read_in_no_order(void) {
  enum { LARGE = 512 };
  int* const large = sms_alloc(sizeof *large, LARGE * INTS, sms_nprocs - 1);
  if (sms_rank == sms_nprocs - 1)
    for (int p = 0; p < LARGE; ++p) large[p * INTS] = p;
  sms_barrier();
  for (int i = 0, p = 0; i < LARGE && sms_rank == 0; ++i, p = (p + 197) % LARGE)
    if (large[p * INTS] != p) fail("read_in_no_order: page %d has %d", p, large[p * INTS]);
  sms_statistics s;
  sms_stats(large, &s);
  if (s.read_faults > LARGE / 2 || s.pages_fetched > LARGE)
    fail("read_in_no_order: %ld faults, %ld pages fetched", (long)s.read_faults, (long)s.pages_fetched);
  sms_barrier();
  sms_free(large);
  return 0;
}

static const struct {
  const char* name;
  int64_t (*run)(void); /* returns the pages that this rank has to fetch */
} cases[] = {
    {"read_with_barriers", read_with_barriers},
    {"read_with_locks", read_with_locks},
    {"read_with_sync", read_with_sync},
    {"rewrite_all", rewrite_all},
    {"rewrite_some", rewrite_some},
    {"locks_and_barriers", locks_and_barriers},
    {"locks_beside", locks_beside},
    {"false_sharing", false_sharing},
    {"migratory", migratory},
    {"tracking_ends", tracking_ends},
    {"uses_end", uses_end},
    {"fill_zeros", fill_zeros},
    {"read_in_no_order", read_in_no_order},
};

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  nodes = sms_alloc(sizeof *nodes, (size_t)sms_nprocs, 0);
  nodes[sms_rank] = sms_node;
  sms_barrier();
  for (int r = 0; r < sms_nprocs; ++r) (void)*(volatile int*)&nodes[r];
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    if (argc > 1 && strcmp(argv[1], cases[c].name) != 0) continue;
    data = sms_mapalloc((int[]){pages() * INTS, -1}, (int[]){sms_nprocs, -1}, sizeof *data, 0, sms_nprocs);
    const int64_t must = sms_reduce_int64(cases[c].run(), SMS_SUM), did = sms_reduce_int64(fetched(), SMS_SUM);
    if (sms_rank == 0) printf("%-20s %6ld pages fetched, %6ld due\n", cases[c].name, (long)did, (long)must);
    fflush(stdout);
    if (did * 100 > must * 102) fail("%s: %ld pages fetched, %ld are due", cases[c].name, (long)did, (long)must);
    sms_free(data);
  }
  return sms_shutdown();
}
