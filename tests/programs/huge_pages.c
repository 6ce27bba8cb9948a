/* Parts of 8.6 MiB on two nodes: promised to be preloaded, they lie in huge pages before the program goes on, and the
 * arrays begin where both parts have the four that fit.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <sys/mman.h>

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
  if (sms_rank == 0) printf("huge_pages: all whole huge pages of both parts\n");
  sms_shutdown();
  return 0;
}
