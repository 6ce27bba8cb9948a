/* Where homes go: of pages that one rank alone writes, of pages that are first touched, and not of pages that several
 * ranks write in turn.
 *
 * homes_follow --what migrate|unchanged|stays|first|again|shared|beside|bound */
#include "programs.h"

enum { pages = 256 };

static int* nodes; /* of the ranks */

static int on_same_node(int a, int b) { return nodes[a] == nodes[b]; }

static unsigned char* array_of_rank_0(enum sms_homes policy, size_t n) {
  unsigned char* const array = sms_alloc(PAGE, n, 0);
  sms_set_homes(array, policy);
  return array;
}

/* Which rank writes page p. */
static int writer_of(size_t p, size_t n) { return (int)(p * (size_t)sms_nprocs / n); }

/* One step: every rank writes its pages and reads some of its neighbour's. */
static void write_own(unsigned char* array, size_t n, int step) {
  for (size_t p = 0; p < n; ++p)
    if (writer_of(p, n) == sms_rank) memset(array + p * PAGE, step + (int)p % 7, PAGE);
  sms_barrier();
}

static void check_values(const unsigned char* array, size_t n, int step) {
  for (size_t p = 0; p < n; ++p)
    for (size_t i = 0; i < PAGE; i += 511)
      if (array[p * PAGE + i] != (unsigned char)(step + (int)p % 7))
        fail("step %d: page %zu byte %zu is %d", step, p, i, array[p * PAGE + i]);
  sms_barrier();
}

static void expect_homes(const unsigned char* array, size_t n, int moved) {
  for (size_t p = 0; p < n; ++p) {
    const int writer = moved ? writer_of(p, n) : 0, home = sms_home(array + p * PAGE);
    const int expected = on_same_node(writer, 0) ? 0 : writer;
    if (home != expected) fail("page %zu is at home on rank %d instead of %d", p, home, expected);
  }
  sms_barrier();
}

static void migrate(void) {
  unsigned char* const array = array_of_rank_0(SMS_HOMES_MIGRATING, pages);
  for (int step = 0; step < 10; ++step) {
    write_own(array, pages, step);
    if (step == 0) expect_homes(array, pages, 0);
    check_values(array, pages, step);
  }
  expect_homes(array, pages, 1);
  const int div[] = {sms_nprocs, -1};
  sms_redistribute(array, div);
  check_values(array, pages, 9);
  for (size_t p = 0; p < pages; ++p)
    if ((size_t)sms_home(array + p * PAGE) != p / ((pages + (size_t)sms_nprocs - 1) / (size_t)sms_nprocs))
      fail("page %zu is not where it was distributed", p);
}

/* Each step writes what is there already, as a program does that computes the same again. */
static void unchanged(void) {
  unsigned char* const array = array_of_rank_0(SMS_HOMES_MIGRATING, pages);
  for (int step = 0; step < 10; ++step) {
    write_own(array, pages, 1);
    check_values(array, pages, 1);
  }
  expect_homes(array, pages, 1);
}

static void stays(void) {
  unsigned char* const array = array_of_rank_0(SMS_HOMES_FIXED, pages);
  for (int step = 0; step < 6; ++step) write_own(array, pages, step);
  expect_homes(array, pages, 0);
}

static void first(void) {
  unsigned char* const array = array_of_rank_0(SMS_HOMES_FIRST_TOUCH, pages);
  sms_barrier(); /* nobody has touched it: nothing is decided */
  write_own(array, pages, 1);
  expect_homes(array, pages, 1);
  check_values(array, pages, 1);
  for (int step = 2; step < 8; ++step) { /* the other way round: homes stay */
    for (size_t p = 0; p < pages; ++p)
      if (writer_of(p, pages) == (sms_rank + 1) % sms_nprocs) memset(array + p * PAGE, step + (int)p % 7, PAGE);
    sms_barrier();
    check_values(array, pages, step);
  }
  expect_homes(array, pages, 1);
}

/* Ranks take turns of growing length: a page moves ever later, and only a few times. */
static void again(void) {
  unsigned char* const array = array_of_rank_0(SMS_HOMES_MIGRATING, 1);
  int moves = 0, home = 0, step = 0;
  for (int turn = 0; turn < 20; ++turn)
    for (int i = 0; i < 12; ++i, ++step) {
      if (sms_rank == turn % sms_nprocs) memset(array, step, PAGE);
      sms_barrier();
      if (array[99] != (unsigned char)step) fail("step %d: %d", step, array[99]);
      moves += sms_home(array) != home;
      home = sms_home(array);
      sms_barrier();
    }
  if (moves < 1 || moves > 4) fail("the page has moved %d times in 20 turns", moves);
}

/* Several ranks write each page in each interval. */
static void shared(void) {
  unsigned char* const array = array_of_rank_0(SMS_HOMES_MIGRATING, 16);
  for (int step = 0; step < 12; ++step) {
    for (size_t p = 0; p < 16; ++p) array[p * PAGE + (size_t)sms_rank * 64] = (unsigned char)(step + 1);
    sms_barrier();
    for (size_t p = 0; p < 16; ++p)
      for (int r = 0; r < sms_nprocs; ++r)
        if (array[p * PAGE + (size_t)r * 64] != (unsigned char)(step + 1)) fail("step %d rank %d", step, r);
    sms_barrier();
  }
  for (size_t p = 0; p < 16; ++p)
    if (sms_home(array + p * PAGE) != 0) fail("page %zu has moved", p);
}

/* More runs of pages than the table of exceptions holds: right, and the rest stays. */
static unsigned mixed(unsigned a, unsigned b) {
  a = (a ^ b * 2654435761u) * 2246822519u;
  return a ^ a >> 15;
}

/* Each page has a writer for some steps, and then another one, so homes move among pages that others copy. */
static void beside(void) {
  enum { n = 24, steps = 300 };
  unsigned char* const array = array_of_rank_0(SMS_HOMES_MIGRATING, n);
  int writer[n] = {0}, value[n] = {0};
  unsigned chosen = 1;
  for (int step = 1; step <= steps; ++step) {
    for (int p = 0; p < n; ++p) {
      chosen = mixed(chosen, (unsigned)p);
      if (chosen % 12 == 0) writer[p] = (int)(chosen / 12 % (unsigned)sms_nprocs);
      if (chosen / 64 % 4 == 0) continue;
      value[p] = step;
      if (writer[p] == sms_rank) memcpy(array + (size_t)p * PAGE + 8, &step, sizeof step);
    }
    sms_barrier();
    for (int p = 0; p < n; ++p) {
      int got;
      if (mixed((unsigned)(step * n + p), (unsigned)sms_rank) / 8 % 2 == 0) continue;
      memcpy(&got, array + (size_t)p * PAGE + 8, sizeof got);
      if (got != value[p])
        fail("step %d: page %d, which rank %d writes, is %d instead of %d", step, p, writer[p], got, value[p]);
    }
    sms_barrier();
  }
}

static void bound(void) {
  const size_t n = 40000;
  unsigned char* const array = array_of_rank_0(SMS_HOMES_MIGRATING, n);
  for (int step = 0; step < 8; ++step) {
    for (size_t p = (size_t)sms_rank; p < n; p += (size_t)sms_nprocs) array[p * PAGE + 5] = (unsigned char)(step + 1);
    sms_barrier();
  }
  size_t moved = 0;
  for (size_t p = 0; p < n; ++p) moved += sms_home(array + p * PAGE) != 0;
  if (moved < 4096 || moved > 8192) fail("%zu pages have moved", moved);
  for (size_t p = 0; p < n; ++p)
    if (array[p * PAGE + 5] != 8) fail("page %zu", p);
  sms_barrier();
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const char* const what = option_text(argc, argv, "--what", "");
  nodes = sms_alloc(sizeof(int), (size_t)sms_nprocs, 0);
  nodes[sms_rank] = sms_node;
  sms_barrier();
  if (strcmp(what, "migrate") == 0) migrate();
  else if (strcmp(what, "unchanged") == 0) unchanged();
  else if (strcmp(what, "stays") == 0) stays();
  else if (strcmp(what, "first") == 0) first();
  else if (strcmp(what, "again") == 0) again();
  else if (strcmp(what, "shared") == 0) shared();
  else if (strcmp(what, "beside") == 0) beside();
  else if (strcmp(what, "bound") == 0) bound();
  else fail("what?");
  if (sms_rank == 0) printf("homes: as they should be\n");
  return sms_shutdown();
}
