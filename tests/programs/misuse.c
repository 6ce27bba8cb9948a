/* What programs do wrong, one case each: misuse CASE. misuse.py knows what must come of each of them.
 *
 * A case is called by all ranks, after sms_startup unless it says otherwise. If the runtime lets a case pass, the
 * program ends well, and misuse.py reports that. `guilty` is true on rank 1, or on rank 0 if that is the only one.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

static int guilty(void) { return sms_rank == (sms_nprocs > 1); }

static volatile double sink;
static volatile int* volatile nowhere = NULL;

/* ---- ranks that end -------------------------------------------------------------------------------------- */

static void leave(void) {
  if (guilty()) exit(0); /* as a return from main */
}
static void vanish(void) {
  if (guilty()) _Exit(0);
}
static void exit_3(void) {
  if (guilty()) exit(3);
}
static void killed(void) {
  if (guilty()) kill(getpid(), SIGKILL);
}
static void segfault(void) {
  if (guilty()) *nowhere = 1;
}
static void segfault_all(void) { *nowhere = 1; }
static void segfault_wild(void) {
  if (guilty()) *(volatile int*)0x123456789000 = 1;
}
static void frees(void) { free(spread(100, 1, 8)); }
static void reallocs(void) {
  if (realloc(spread(100, 1, 8), 5000) != NULL) exit(3);
}
static void call_in_child(void) {
  if (!guilty()) return;
  const pid_t child = fork();
  if (child == 0) sms_barrier();
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) sms_abort(8, "the child went on");
  sms_abort(7, "the child was told");
}
static void* in_barrier(void* unused) {
  sms_barrier();
  return unused;
}
static void barrier_in_threads(void) {
  pthread_t thread;
  if (sms_rank == sms_nprocs - 1) usleep(300000); /* so that both threads of others are there */
  if (pthread_create(&thread, NULL, in_barrier, NULL) != 0) exit(3);
  sms_barrier();
  pthread_join(thread, NULL);
}
static void* fault_in_thread(void* unused) {
  *nowhere = 1;
  return unused;
}
static void segfault_thread(void) {
  pthread_t thread;
  if (guilty() && pthread_create(&thread, NULL, fault_in_thread, NULL) == 0) pthread_join(thread, NULL);
}
static void aborts(void) {
  if (guilty()) abort();
}
static void gives_up(void) {
  if (guilty()) sms_abort(7, "the flux capacitor is empty");
}

/* ---- accesses -------------------------------------------------------------------------------------------- */

enum { ELEMENTS = 1000 };

static double* doubles(void) {
  double* a = sms_alloc(sizeof(double), ELEMENTS, sms_nprocs - 1);
  sms_barrier();
  return a;
}

static double* named(void) {
  double* a = doubles();
  sms_name(a, "temperature");
  return a;
}

static void past_read(void) {
  double* a = doubles();
  if (guilty()) sink = a[ELEMENTS];
}
static void past_write(void) {
  double* a = doubles();
  if (guilty()) a[ELEMENTS] = 1;
}
static void past_write_named(void) {
  double* a = named();
  if (sms_rank == 0) a[ELEMENTS] = 1;
}
static void past_all(void) {
  double* a = doubles();
  a[ELEMENTS] = 1;
}
static void page_past_read(void) {
  double* a = doubles();
  if (guilty()) sink = a[ELEMENTS + 600];
}
static void page_past_write(void) {
  double* a = named();
  if (sms_rank == 0) a[ELEMENTS + 600] = 1;
}
static void page_before_read(void) {
  double* a = doubles();
  if (guilty()) sink = a[-600];
}
static void freed_read(void) {
  double* a = named();
  sms_free(a);
  if (guilty()) sink = a[17];
}
static void freed_write(void) {
  double* a = doubles();
  sms_free(a);
  sink = *(double*)sms_alloc(sizeof(double), ELEMENTS, 0);
  if (sms_rank == 0) a[17] = 1;
}
static void no_array_read(void) {
  char* a = (char*)doubles();
  if (guilty()) sink = *(a + (1l << 40));
}

/* ---- collective calls that differ ------------------------------------------------------------------------ */

static void unequal_size(void) { (void)sms_alloc(sizeof(double), guilty() ? 200 : 100, 0); }
static void unequal_element(void) { (void)sms_alloc(guilty() ? 4 : 8, guilty() ? 200 : 100, 0); }
static void unequal_home(void) { (void)sms_alloc(sizeof(double), 100, guilty()); }
static void unequal_div(void) {
  const int dim[] = {10, 10, -1}, rows[] = {2, 1, -1}, columns[] = {1, 2, -1};
  (void)sms_mapalloc(dim, guilty() ? columns : rows, sizeof(double), 0, 2);
}
static void unequal_order(void) {
  (void)sms_alloc(sizeof(double), guilty() ? 5000 : 100, 0);
  (void)sms_alloc(sizeof(double), guilty() ? 100 : 5000, 0);
}
static void alloc_or_barrier(void) {
  if (guilty()) sms_barrier();
  else (void)sms_alloc(sizeof(double), 100, 0);
}
static void barrier_or_drop(void) {
  if (guilty()) sms_sync_drop();
  else sms_barrier();
}
static void barrier_between(void) {
  sms_sync_drop_start();
  sms_barrier();
}
static void promise_broken(void) {
  double* const a = doubles();
  sms_promise_preload(a);
  if (sms_rank == 0) a[7] = 1;
}
static void wait_without_start(void) { sms_sync_drop_wait(); }
static void late_for_wait(void) {
  while (guilty()) pause();
  sms_sync_drop_start();
  sms_sync_drop_wait();
}
static void barrier_or_reduce(void) {
  if (guilty()) sms_reduce_int64(1, SMS_SUM);
  else sms_barrier();
}
static void alloc_or_shutdown(void) {
  if (!guilty()) (void)sms_alloc(sizeof(double), 100, 0);
}
static void unequal_free(void) {
  double *a = doubles(), *b = doubles();
  sms_free(guilty() ? a : b);
}
static void late_for_barrier(void) {
  while (guilty()) pause();
  sms_barrier();
}
static void late_for_lock(void) {
  if (guilty()) sms_lock(5);
  sms_barrier();
  while (guilty()) pause();
  sms_lock(5);
}

/* ---- sizes and distributions ----------------------------------------------------------------------------- */

static void too_much(void) {
  char* a = sms_alloc(1, (size_t)3 << 40, 0);
  if (sms_rank == sms_nprocs - 1) a[(size_t)2 << 40] = 5;
  sms_barrier();
  if (a[(size_t)2 << 40] != 5) fail("wrong value in a sparse array");
}
static void beyond_space(void) { (void)sms_alloc(1, (size_t)1 << 50, 0); }
static void overflow_alloc(void) { (void)sms_alloc(sizeof(double), SIZE_MAX / 4, 0); }
static void negative_alloc(void) {
  const volatile int n = -100;
  (void)sms_alloc(sizeof(double), (size_t)n, 0);
}
static void mapalloc(int64_t d0, int64_t d1, int64_t p0, int64_t p1, int first, int count) {
  const int64_t dim[] = {d0, d1, -1}, div[] = {p0, p1, -1};
  (void)sms_mapalloc_large(dim, div, sizeof(double), first, count);
}
static void negative_dim(void) {
  const int dim[] = {10, -5, -1}, div[] = {2, 1, -1};
  (void)sms_mapalloc(dim, div, sizeof(double), 0, 2);
}
static void overflow_dim(void) { mapalloc(INT64_C(1) << 40, INT64_C(1) << 40, 1, 1, 0, 1); }
/* It must be refused before it is laid out, which would not end. */
static void beyond_space_in_many_parts(void) { mapalloc(INT64_C(1) << 37, 1024, 1, 2, 0, 2); }
static void zero_div(void) { mapalloc(10, 10, 2, 0, 0, 2); }
static void negative_div(void) { mapalloc(10, 10, 2, -3, 0, 2); }
static void wide_div(void) { mapalloc(10, 1, 1, 2, 0, 2); }
static void too_many_pieces(void) { mapalloc(10, 10, 2, 2, 0, 2); }
static void short_div(void) { (void)sms_mapalloc((int[]){10, 10, -1}, (int[]){2, -1}, sizeof(double), 0, 2); }
static void long_div(void) { (void)sms_mapalloc((int[]){10, -1}, (int[]){2, 1, -1}, sizeof(double), 0, 2); }
static void too_many_ranks(void) { mapalloc(10, 10, 1, 1, 1, sms_nprocs); }
static void negative_first(void) { mapalloc(10, 10, 1, 1, -1, 1); }
static void no_ranks(void) { mapalloc(10, 10, 1, 1, 0, 0); }
static void rank_too_large(void) { (void)sms_alloc(sizeof(double), 10, sms_nprocs); }
static void rank_negative(void) { (void)sms_alloc(sizeof(double), 10, -1); }

/* ---- locks ----------------------------------------------------------------------------------------------- */

static void unlock_unlocked(void) {
  if (guilty()) sms_unlock(3);
}
static void unlock_of_other_rank(void) {
  if (sms_rank == 0) sms_lock(3);
  sms_barrier();
  if (guilty()) sms_unlock(3);
}
static void lock_twice(void) {
  if (guilty()) sms_lock(3), sms_lock(3);
}
static void lock_negative(void) {
  if (guilty()) sms_lock(-1);
}
static void lock_too_large(void) {
  if (guilty()) sms_lock(SMS_LOCKS);
}
static void killed_with_locks(void) {
  if (guilty()) sms_lock(4), sms_lock(77);
  sms_barrier();
  if (guilty()) usleep(200000), kill(getpid(), SIGKILL);
  sms_lock(77);
}
static void unlock_unshared(void) {
  if (guilty()) sms_lock(3), sms_unlock_shared(3);
}
static void lock_shared_twice(void) {
  if (guilty()) sms_lock_shared(3), sms_lock_shared(3);
}
static void lock_what_it_shares(void) {
  if (guilty()) sms_lock_shared(3), sms_lock(3);
}
static void held_at_end(void) {
  if (guilty()) sms_lock(3), sms_lock(70);
}
static void shared_at_end(void) {
  if (guilty()) sms_lock_shared(3);
}
static void wait_without_lock(void) {
  if (guilty()) sms_wait(8, 3);
}
static void wait_with_shared_lock(void) {
  if (guilty()) sms_lock_shared(3), sms_wait(8, 3);
}
static void wait_with_other_lock(void) {
  if (!guilty()) {
    sms_lock(3);
    sms_wait(8, 3);
  }
  usleep(300000);
  sms_lock(4);
  sms_wait(8, 4);
}
static void wait_for_too_large(void) {
  if (guilty()) sms_lock(3), sms_wait(SMS_CONDITIONS, 3);
}
static void signal_negative(void) {
  if (guilty()) sms_signal(-1);
}
static void nobody_signals(void) {
  sms_lock(3);
  sms_wait(8, 3);
}
static void once_again(void) { sms_once(6, once_again); }
static void once_in_itself(void) {
  if (guilty()) once_again();
}
static void once_too_large(void) {
  if (guilty()) sms_once(SMS_ONCES, once_again);
}
static void once_nothing(void) {
  if (guilty()) sms_once(6, NULL);
}

/* ---- outside the job's life ------------------------------------------------------------------------------ */

static void before_barrier(void) { sms_barrier(); }
static void before_alloc(void) { (void)sms_alloc(sizeof(double), 10, 0); }
static void before_lock(void) { sms_lock(0); }
static void after_barrier(void) { sms_barrier(); }
static void after_alloc(void) { (void)sms_alloc(sizeof(double), 10, 0); }
static void after_stats(void) {
  sms_statistics all;
  sms_stats(NULL, &all);
}
static double* volatile kept; /* from before the end */
static char* volatile kept_object;
static void after_load(void) { kept[0] = kept[999]; }
static void after_store(void) { kept[7] = 1; }
static void after_object(void) { kept_object[5] = 1; }

/* ---- addresses ------------------------------------------------------------------------------------------- */

static void preload(int64_t base, int64_t length, int64_t step) {
  double* a = named();
  const sms_range section = {base, length, step};
  if (guilty()) sms_preload(a, &section);
}
static void preload_past(void) { preload(990, 11, 1); }
static void preload_stride_past(void) { preload(0, 501, 2); }
static void preload_negative(void) { preload(-1, 5, 1); }
static void preload_no_step(void) { preload(0, 5, 0); }
static void preload_bytes_past(void) {
  double* a = named();
  if (guilty()) sms_preload_bytes(a + 500, 501 * sizeof(double));
}
static void preload_private(void) {
  double a[2] = {0};
  if (guilty()) sms_preload_bytes(a, sizeof a);
}
static void atomic_unaligned(void) {
  double* a = named();
  if (guilty()) sms_fetch_add((int64_t*)((char*)a + 4), 1);
}
static void atomic_private(void) {
  int64_t word = 0;
  if (guilty()) sms_fetch_add(&word, 1);
}
static void free_inside(void) {
  double* a = named();
  sms_free(a + 1);
}
static void free_twice(void) {
  double* a = named();
  sms_free(a);
  sms_free(a);
}
static void free_private(void) { sms_free((void*)0x10000); }
static void free_swapped(void) { sms_free(guilty() ? (named(), (void*)&sink) : named()); }
static void home_private(void) {
  double a = 0;
  if (guilty()) sink = sms_home(&a);
}
static void box_rank(void) {
  double* a = named();
  size_t first[8], length[8];
  if (guilty()) sms_local_box(a, sms_nprocs, first, length);
}
static void nothing(void) {}

typedef struct misuse {
  const char* name;
  void (*run)(void);
  enum { INSIDE, BEFORE, AFTER } when;
} misuse;

#define CASE(name, when) {#name, name, when}
#define IN(name) CASE(name, INSIDE)
// clang-format off: it would give each case a line
static const misuse cases[] = {
    IN(leave), IN(vanish), IN(exit_3), IN(killed), IN(segfault), IN(segfault_all), IN(segfault_wild),
    IN(segfault_thread), IN(call_in_child), IN(frees), IN(reallocs), IN(barrier_in_threads), IN(aborts), IN(gives_up),
    IN(past_read), IN(past_write), IN(past_write_named), IN(past_all), IN(page_past_read), IN(page_past_write),
    IN(page_before_read), IN(freed_read), IN(freed_write), IN(no_array_read), IN(unequal_size), IN(unequal_element),
    IN(unequal_home), IN(unequal_div), IN(unequal_order), IN(alloc_or_barrier), IN(barrier_or_drop),
    IN(barrier_between), IN(wait_without_start), IN(promise_broken), IN(barrier_or_reduce), IN(alloc_or_shutdown),
    IN(unequal_free), IN(late_for_barrier), IN(late_for_wait), IN(late_for_lock), IN(too_much), IN(beyond_space),
    IN(beyond_space_in_many_parts), IN(overflow_alloc), IN(negative_alloc), IN(negative_dim), IN(overflow_dim),
    IN(zero_div), IN(negative_div), IN(wide_div), IN(too_many_pieces), IN(short_div), IN(long_div), IN(too_many_ranks),
    IN(negative_first), IN(no_ranks), IN(rank_too_large), IN(rank_negative), IN(unlock_unlocked),
    IN(unlock_of_other_rank), IN(lock_twice), IN(lock_negative), IN(lock_too_large), IN(killed_with_locks),
    IN(unlock_unshared), IN(lock_shared_twice), IN(lock_what_it_shares), IN(held_at_end), IN(shared_at_end),
    IN(wait_without_lock), IN(wait_with_shared_lock), IN(wait_with_other_lock), IN(wait_for_too_large),
    IN(signal_negative), IN(nobody_signals), IN(once_in_itself), IN(once_too_large), IN(once_nothing), IN(preload_past),
    IN(preload_stride_past), IN(preload_negative), IN(preload_no_step), IN(preload_bytes_past), IN(preload_private),
    IN(atomic_unaligned), IN(atomic_private), IN(free_inside), IN(free_twice), IN(free_private), IN(free_swapped),
    IN(home_private), IN(box_rank), IN(nothing), CASE(before_barrier, BEFORE), CASE(before_alloc, BEFORE),
    CASE(before_lock, BEFORE), CASE(after_barrier, AFTER), CASE(after_alloc, AFTER), CASE(after_stats, AFTER),
    CASE(after_load, AFTER), CASE(after_store, AFTER), CASE(after_object, AFTER)};
// clang-format on

int main(int argc, char** argv) {
  const misuse* found = NULL;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) found = &cases[i];
  if (found == NULL) return 64;
  if (found->when == BEFORE) found->run();
  sms_startup(&argc, &argv);
  if (found->when == INSIDE) found->run();
  if (found->when == AFTER) kept = sms_alloc(sizeof *kept, 1000, 0), kept_object = sms_malloc(24);
  sms_barrier();
  sms_shutdown();
  if (found->when == AFTER) found->run();
  return 0;
}
