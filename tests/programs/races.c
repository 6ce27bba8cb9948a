/* Accesses of sms.h programs that race, and that do not, for option check: races.c CASE. Each case prints "done". A
 * race is the program's mistake, so its results are not looked at; those of the others are. */
#include <sms.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60000, STEPS = 50 };
static double *a, *large; /* whole on rank 0; in blocks */
static int64_t* flag;
static char* text;
static volatile double seen;
static int rank, ranks, first, end; /* of this rank's part of `large` */

struct pair {
  int of[2];
};

static void require(int true_here, const char* what) {
  if (!true_here) sms_abort(1, what);
}

__attribute__((noinline)) static double sum_of(const double* from, int begin, int stop) {
  double sum = 0;
  for (int i = begin; i < stop; ++i) sum += from[i];
  seen = sum; /* so that no compiler leaves it out */
  return sum;
}

/* ---- races ---- */

static void slots(void) {
  a[rank] = rank + 1;
  sum_of(a, 0, ranks);
}

static void neighbour(void) {
  for (int i = first; i < end; ++i) large[i] = i + 1;
  if (rank == 0) sum_of(large, 0, N);
}

static void stencil_without_barrier(void) {
  for (int step = 0; step < 3; ++step)
    for (int i = rank == 0 ? 1 : first; i < end && i < N - 1; ++i) large[i] = large[i - 1] + large[i + 1] + 1;
}

static void all_write(void) {
  for (int i = 0; i < N; ++i) large[i] = i;
}

static void forgotten_lock(void) {
  for (int i = 0; i < STEPS; ++i) {
    if (rank == 0) sms_lock(1);
    a[0] += 1;
    if (rank == 0) sms_unlock(1);
  }
}

static void two_locks(void) {
  sms_lock(rank);
  a[0] += 1;
  sms_unlock(rank);
}

static void two_locks_often(void) { /* told in a second, not after comparing each turn with each */
  for (int i = 0; i < 20000; ++i) two_locks();
}

static void copy(void) {
  char own[64] = "copied";
  if (rank == 0) memcpy(text + 100, own, 32);
  if (rank == 1) memcpy(own, text + 120, 32);
  seen = own[0];
}

static void later(void) { /* only in the third epoch, and far from any border */
  for (int i = first; i < end; ++i) large[i] = 1;
  sms_barrier();
  sms_barrier();
  const int at = N / ranks / 2;
  if (rank == 0) large[at] = 2;
  if (rank == ranks - 1) sum_of(large, at, at + 1);
}

/* An object of the heap that rank 0 has allocated and published, and that it reads under a lock. */
struct object {
  int64_t values[4];
};
static struct object** published;

static void publish(void) {
  if (rank == 0) *published = sms_calloc(1, sizeof **published);
  sms_barrier();
}

static void freed_while_read(void) { /* its lock is not taken by the rank that frees */
  publish();
  if (rank == 0) {
    sms_lock(1);
    require((*published)->values[2] == 0, "wrong value");
    sms_unlock(1);
  }
  if (rank == ranks - 1) sms_mfree(*published);
}

static void freed_by_owner(void) {
  publish();
  if (rank == ranks - 1) seen = (double)(*published)->values[3];
  if (rank == 0) sms_mfree(*published);
}

static void on_heap(void) {
  publish();
  (*published)->values[1] = rank;
}

/* ---- none ---- */

static void far_apart(void) { /* more pages than can be closed one by one; what follows is not looked at */
  enum { STRIDE = 8192, PAGES = 10000, TURNS = 4000, SOME = 20 };
  publish();
  char* const object = sms_malloc((size_t)PAGES * STRIDE);
  for (int page = 0; page < SOME; ++page) /* until exact recording has taken its time */
    for (int turn = 0; turn < TURNS; ++turn) ++*(volatile char*)&object[page * STRIDE];
  for (int page = 0; page < PAGES; ++page) object[page * STRIDE] = 1;
  (*published)->values[0] = rank;
  sms_barrier();
  (*published)->values[1] = rank;
}

static void freed_in_order(void) { /* by the last rank that uses it, under the lock; many times */
  publish();
  for (int round = 0; round < STEPS; ++round) {
    sms_lock(1);
    struct object* const object = *published;
    if (++object->values[0] % ranks == 0) {
      struct object* const next = sms_malloc(sizeof *next);
      memcpy(next, object, sizeof *next);
      *published = next;
      sms_mfree(object);
    }
    sms_unlock(1);
  }
  sms_barrier();
  require((*published)->values[0] == STEPS * ranks, "wrong count");
  sms_barrier();
  if (rank == ranks - 1) sms_mfree(*published);
}

static void own_objects(void) { /* on pages that ranks share with what others have freed */
  struct object* objects[STEPS];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < STEPS; ++i) {
      objects[i] = i % 2 != 0 ? sms_malloc_on(sizeof **objects, (rank + 1) % ranks) : sms_malloc(sizeof **objects);
      objects[i]->values[i % 4] = i;
    }
    for (int i = 0; i < STEPS; ++i) {
      require(objects[i]->values[i % 4] == i, "wrong value of an own object");
      sms_mfree(objects[i]);
    }
  }
}

static void much_freed(void) { /* more than is kept, so that it is used again within one epoch */
  enum { BYTES = 1 << 20, OBJECTS = 80 };
  publish();
  for (int i = 0; i < OBJECTS; ++i) {
    sms_lock(1);
    char* const object = sms_malloc(BYTES);
    object[i] = (char)rank;
    sms_unlock(1);
    sms_mfree(object);
  }
  sms_barrier();
  if (rank == 0) sms_mfree(*published);
}

static void barriers(void) {
  for (int i = first; i < end; ++i) large[i] = i;
  sms_barrier();
  require(sum_of(large, 0, N) == (double)N * (N - 1) / 2, "wrong sum");
  sms_barrier();
  for (int i = first; i < end; ++i) large[i] = 0;
  sms_sync_drop();
  require(sum_of(large, 0, N) == 0, "wrong sum of zeros");
}

static void side_by_side(void) { /* bytes of all ranks in every word */
  for (int i = 0; i < 64; ++i) text[i * ranks + rank] = (char)rank;
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += text[i * ranks + rank];
  require(sum == 64 * rank, "wrong bytes");
}

static void lock(void) {
  for (int i = 0; i < STEPS; ++i) {
    sms_lock(1);
    a[0] += 1;
    sms_unlock(1);
  }
  sms_barrier();
  require(a[0] == STEPS * ranks, "wrong count");
}

static void hand_over(void) { /* what was written before a lock was released is seen after it is taken */
  if (rank == 0) {
    a[600] = 7;
    sms_lock(1);
    flag[0] = 1;
    sms_unlock(1);
  }
  for (int told = 0; rank == 1 && !told;) {
    sms_lock(1);
    told = flag[0] != 0;
    sms_unlock(1);
    if (told) require(a[600] == 7, "wrong value after the lock");
  }
}

static void by_flag(void) {
  if (rank == 0) {
    a[600] = 7;
    sms_sync();
    sms_atomic_store(flag, 1);
  }
  if (rank == ranks - 1 && ranks > 1) {
    while (!sms_atomic_load(flag)) continue;
    sms_sync();
    require(a[600] == 7, "wrong value after the flag");
  }
}

/* Members of one element: a lost write, unless it is said that they are values of their own. */
static void members(void) { ((struct pair*)a)[5].of[rank % 2] = rank; }

static void members_declared(void) {
  sms_set_scalar(a, sizeof(int));
  if (rank < 2) members();
}

static void queue(void) {
  for (int64_t i; (i = sms_fetch_add(flag, 1)) < 1000;) a[i] = (double)i;
  sms_barrier();
  require(sum_of(a, 0, 1000) == 999 * 500, "wrong sum of the queue's");
}

static void over_read(void) { /* strlen reads whole vectors, which is no race with who writes beyond the end */
  if (rank == 0) strcpy(text, "short");
  if (rank == 1) text[9] = 'x';
  if (rank == 0) require(strlen(text) == 5, "wrong length");
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"slots", slots},
             {"neighbour", neighbour},
             {"stencil_without_barrier", stencil_without_barrier},
             {"all_write", all_write},
             {"forgotten_lock", forgotten_lock},
             {"two_locks", two_locks},
             {"two_locks_often", two_locks_often},
             {"copy", copy},
             {"later", later},
             {"freed_while_read", freed_while_read},
             {"freed_by_owner", freed_by_owner},
             {"on_heap", on_heap},
             {"freed_in_order", freed_in_order},
             {"own_objects", own_objects},
             {"much_freed", much_freed},
             {"far_apart", far_apart},
             {"barriers", barriers},
             {"side_by_side", side_by_side},
             {"lock", lock},
             {"hand_over", hand_over},
             {"by_flag", by_flag},
             {"members", members},
             {"members_declared", members_declared},
             {"queue", queue},
             {"over_read", over_read}};

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  rank = sms_rank, ranks = sms_nprocs;
  const int dim[] = {N, -1}, div[] = {ranks, -1};
  large = sms_mapalloc(dim, div, sizeof *large, 0, ranks);
  sms_name(large, "large");
  size_t from[1], length[1];
  sms_local_box(large, rank, from, length);
  first = (int)from[0], end = (int)(from[0] + length[0]);
  a = sms_alloc(sizeof *a, 1000, 0);
  sms_name(a, "a");
  flag = sms_alloc(sizeof *flag, 1, 0);
  text = sms_alloc(1, 4096, 0);
  sms_name(text, "text");
  published = sms_alloc(sizeof *published, 1, 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  sms_barrier();
  if (rank == 0) puts("done");
  sms_free(text);
  sms_shutdown();
  return 0;
}
