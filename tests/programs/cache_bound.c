/* A large array at home on the last rank, walked by rank 0 of another node through a small cache: the sums must be
 * right, and resident memory must stay below the cache + 10% + what the program had before.
 *   cache_bound --mib 256 --cache-mib 16     (the job must have --cache 16M)
 * Walks: reading; reading backwards; writing a word of each page; reading what was written. Before them arrays are
 * allocated, copied and freed, again and again, which must not take more and more memory.
 */
#include "programs.h"

static uint64_t* words;
static size_t count;
static long peak_kib;

static void sample(size_t at) {
  if (at % (1 << 16) != 0) return;
  const long now = status_kib("VmRSS");
  if (now > peak_kib) peak_kib = now;
}

static uint64_t walk(int backwards) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sample(i);
    sum += words[backwards ? count - 1 - i : i] * (i & 1 ? 3 : 1);
  }
  return sum;
}

static uint64_t expected(int backwards, uint64_t added) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = backwards ? count - 1 - i : i;
    sum += (mix(at) + (at % (PAGE / 8) == 7 ? added : 0)) * (i & 1 ? 3 : 1);
  }
  return sum;
}

static long limit_kib, baseline_kib;

/* After each walk: the sum, and the most memory that was seen during it. */
static void check(const char* what, uint64_t got, uint64_t want) {
  if (got != want) fail("cache_bound: %s: sum %lx, expected %lx", what, got, want);
  if (sms_rank != 0) return;
  printf("cache_bound: %-11s at most %ld KiB resident, %ld before\n", what, peak_kib, baseline_kib);
  fflush(stdout);
  if (peak_kib > limit_kib) fail("cache_bound: %s: %ld KiB resident, %ld KiB allowed", what, peak_kib, limit_kib);
  peak_kib = 0;
}

static void write_some(void) {
  for (size_t i = 7; i < count; i += PAGE / 8) {
    words[i] += 5;
    sample(i - 7);
  }
}

static void copies_of_freed_arrays(void) {
  enum { ARRAYS = 2000, MOST_KIB = 256 }; /* a KiB each would be eight times as much */
  long before = 0;
  for (int i = 0; i < 2 * ARRAYS; ++i) {
    if (i == ARRAYS) before = status_kib("VmRSS");
    char* array = sms_alloc(PAGE, 3, 0);
    array[sms_rank] = 1;
    sms_free(array);
  }
  const long more = status_kib("VmRSS") - before;
  if (more > MOST_KIB) fail("cache_bound: %d freed arrays leave %ld KiB on rank %d", ARRAYS, more, sms_rank);
}

int main(int argc, char** argv) {
  const long mib = option_number(argc, argv, "--mib", 256), cache_mib = option_number(argc, argv, "--cache-mib", 16);
  sms_startup(&argc, &argv);
  copies_of_freed_arrays();
  count = ((size_t)mib << 20) / sizeof *words;
  words = sms_alloc(sizeof *words, count, sms_nprocs - 1);
  for (size_t i = 0; sms_rank == sms_nprocs - 1 && i < count; ++i) words[i] = mix(i);
  sms_barrier();
  baseline_kib = status_kib("VmRSS");
  limit_kib = cache_mib * 1024 * 11 / 10 + baseline_kib;
  if (sms_rank == 0) {
    check("forwards", walk(0), expected(0, 0));
    check("backwards", walk(1), expected(1, 0));
    write_some();
    check("writing", 0, 0);
  }
  sms_barrier();
  if (sms_rank == 0) check("own writes", walk(0), expected(0, 5));
  if (sms_rank == sms_nprocs - 1) check("at home", walk(1), expected(1, 5));
  sms_shutdown();
  return 0;
}
