/* Parts of 8.6 MiB on two nodes: promised to be preloaded, they lie in huge pages before the program goes on, and the
 * arrays begin where both parts have the four that fit. What a part has of a huge page at its ends is gathered, if it
 * is at least half; all of it is given back with the array.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "programs.h"

enum { PLANES = 65, PLANE_PAGES = 34, HUGE_KIB = 2048, WHOLE = 4 };

static bool kernel_gathers(void) {
  const size_t bytes = (size_t)2 * HUGE_KIB << 10;
  char* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  memset(memory, 1, bytes);
  const bool gathered = madvise(memory, bytes, 25 /* MADV_COLLAPSE */) == 0;
  munmap(memory, bytes);
  return gathered;
}

/* Of what is mapped from `address` on, KiB in huge pages. */
static long huge_kib(const char* address, size_t bytes) {
  FILE* const maps = fopen("/proc/self/smaps", "r");
  if (maps == NULL) fail("huge_pages: no /proc/self/smaps");
  long total = 0, kib = 0;
  bool inside = false;
  uintptr_t first = 0, end = 0;
  for (char line[512]; fgets(line, sizeof line, maps) != NULL;) {
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2)
      inside = first >= (uintptr_t)address && end <= (uintptr_t)address + bytes;
    else if (inside && sscanf(line, "ShmemPmdMapped: %ld", &kib) == 1) total += kib;
  }
  fclose(maps);
  return total;
}

/* KiB of the file that is mapped at `address`. */
static long file_kib(const char* address) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) fail("huge_pages: no /proc/self/maps");
  uintptr_t first = 0, end = 0;
  unsigned long inode = 0;
  unsigned above = 0, below = 0; /* of the device's number */
  bool found = false;
  for (char line[512]; !found && fgets(line, sizeof line, maps) != NULL;)
    found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %x:%x %lu", &first, &end, &above, &below, &inode) == 5 &&
            first <= (uintptr_t)address && (uintptr_t)address < end;
  fclose(maps);
  struct stat info;
  for (int fd = 3; found && fd < 1024; ++fd)
    if (fstat(fd, &info) == 0 && info.st_ino == inode && info.st_dev == makedev(above, below))
      return info.st_blocks / 2;
  fail("huge_pages: rank %d has not opened the file of its part", sms_rank);
}

static long half_or_all(long kib) { return kib >= HUGE_KIB / 2 ? HUGE_KIB : kib; }

/* A part of whole huge pages and `odd` KiB more. */
static void check_ends(long odd) {
  const long kib = WHOLE * HUGE_KIB + odd;
  char* const kept = spread(sms_nprocs, PAGE, 1);
  kept[(size_t)sms_rank * PAGE] = 1;
  const long before = file_kib(kept + (size_t)sms_rank * PAGE);
  char* const array = spread(sms_nprocs, (int)(kib << 10), 1);
  char* const own = array + (size_t)sms_rank * ((size_t)kib << 10);
  memset(own, 1, (size_t)kib << 10);
  sms_sync_drop();
  sms_promise_preload(array);
  const long begins = (long)((uintptr_t)own >> 10) % HUGE_KIB, head = begins == 0 ? 0 : HUGE_KIB - begins;
  const long tail = (kib - head) % HUGE_KIB, expected = kib - head - tail + half_or_all(head) + half_or_all(tail);
  const long grown = file_kib(own) - before;
  if (grown != expected)
    fail(
        "huge_pages: a part of %ld KiB, %ld of them before its first whole huge page and %ld behind its last, takes "
        "%ld KiB on rank %d, expected %ld",
        kib, head, tail, grown, sms_rank, expected);
  sms_free(array);
  sms_barrier(); /* the file is the node's */
  const long left = file_kib(kept + (size_t)sms_rank * PAGE) - before;
  if (left != 0) fail("huge_pages: %ld KiB of a freed array are left on rank %d", left, sms_rank);
  sms_free(kept);
}

/* Rank 1 becomes the home of the second half: by migration, of all but a page that nobody writes; or by a new
 * distribution. */
static void check_moved(bool migrates) {
  enum { PAGES = 16384, STEPS = 8, LEAST = 14 }; /* of 16 huge pages, which are cut where parts meet */
  const int div[] = {2, -1};
  const size_t bytes = (size_t)PAGES / 2 * PAGE;
  char* const array = sms_alloc(PAGE, PAGES, 0);
  char* const half = array + bytes;
  if (migrates) sms_set_homes(array, SMS_HOMES_MIGRATING);
  for (int step = 1; step <= (migrates ? STEPS : 1); ++step) {
    memset((sms_rank == 0 ? array : half) + PAGE, step + sms_rank, bytes - PAGE);
    sms_barrier();
  }
  if (!migrates) sms_redistribute(array, div);
  if (sms_home(half + PAGE) != 1) fail("huge_pages: the half is at home on rank %d", sms_home(half + PAGE));
  const long kib = sms_rank == 1 ? huge_kib(half, bytes) : LEAST * HUGE_KIB;
  if (kib < LEAST * HUGE_KIB) fail("huge_pages: %ld KiB of what has moved to rank 1 are in huge pages", kib);
  sms_barrier();
  const int last = migrates ? STEPS : 1;
  for (size_t at = PAGE; at < bytes; at += 1021)
    if (array[at] != last || half[at] != last + 1) fail("huge_pages: byte %zu has moved wrong", at);
  sms_free(array);
}

/* True if the node's memory file has huge pages at the first touch: it is no memfd then. */
static bool at_first_touch(const char* address) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) fail("huge_pages: no /proc/self/maps");
  uintptr_t first = 0, end = 0;
  bool is_memfd = true;
  for (char line[512]; fgets(line, sizeof line, maps) != NULL;)
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2 && first <= (uintptr_t)address &&
        (uintptr_t)address < end)
      is_memfd = strstr(line, "/memfd:") != NULL;
  fclose(maps);
  return !is_memfd;
}

/* A large array lies in huge pages before any barrier, or, where the kernel has none then, after it has been used for
 * four times as long as a copy of it takes: not after its first barriers. */
static void check_use(void) {
  enum { KIB = 64 << 10, MOST = KIB - 2 * HUGE_KIB };
  char* const array = spread(sms_nprocs, KIB << 10, 1);
  char* const own = array + (size_t)sms_rank * ((size_t)KIB << 10);
  memset(own, 1, (size_t)KIB << 10);
  const bool at_once = at_first_touch(own);
  const long kib = huge_kib(own, (size_t)KIB << 10);
  if (at_once ? kib < MOST : kib > 0) fail("huge_pages: %ld KiB are in huge pages at the first touch", kib);
  sms_barrier();
  sms_barrier();
  if (!at_once && huge_kib(own, (size_t)KIB << 10) > 0) fail("huge_pages: memory that was used once was copied");
  const time_t begin = time(NULL);
  while (sms_reduce_double(difftime(time(NULL), begin), SMS_MIN) < 2) sms_barrier();
  const long later = huge_kib(own, (size_t)KIB << 10);
  if (later < MOST) fail("huge_pages: %ld KiB are in huge pages after a second of use", later);
  sms_barrier();
  sms_free(array);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (!kernel_gathers()) {
    printf("huge_pages: this kernel gathers no shared memory into huge pages; nothing to test\n");
    sms_shutdown();
    return 0;
  }
  const size_t bytes = (size_t)PLANES * PLANE_PAGES * PAGE;
  for (int turn = 0; turn < 3; ++turn) { /* by turn they would begin at three different places */
    char* const array = spread(PLANES * sms_nprocs, PLANE_PAGES * PAGE, 1);
    char* const own = array + (size_t)sms_rank * bytes;
    memset(own, 1, bytes);
    sms_sync_drop();
    sms_promise_preload(array);
    const long kib = huge_kib(own, bytes);
    if (kib != WHOLE * HUGE_KIB)
      fail("huge_pages: %ld KiB of rank %d's part of array %d are huge pages, not %d", kib, sms_rank, turn,
           WHOLE * HUGE_KIB);
    sms_barrier();
  }
  const long odd[] = {0, 1200, 1600, 4, 2044};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) check_ends(odd[i]);
  check_moved(true);
  check_moved(false);
  check_use();
  if (sms_rank == 0) printf("huge_pages: all whole huge pages of both parts, and those at their ends\n");
  sms_shutdown();
  return 0;
}
